# What a developer and CI run. Every target needs Go and git; contract needs npm, lint shellcheck, e2e hosts Docker. Tests that
# lack something skip and say what; LABEL_STATE_REQUIRE=docker,act,hooks,npm,... makes that a failure.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 10s
BENCHTIME ?= 1s
TESTFLAGS ?=
SEEDS ?=
FROM ?= 0
RAPID_CHECKS ?= 3000
HOOKBENCH ?=
PACKAGE ?=
SEED ?= 1
BUDGET ?= 5m
N ?= 0
EDGES ?=
PLAYED ?= few
tool := go tool -modfile=tools/go.mod
modules := contract bench
sampled = $(shell grep -rl --include='*_test.go' '/internal/sample"' . | xargs -n 1 dirname | sort -u)
raced = $(shell grep -rlE --include='*.go' '^\s*(defer )?go [a-z]|\.Go[^a-zA-Z ]|AfterFunc|httptest\.|t\.Parallel|/githubsim"' . | \
	xargs -n 1 dirname | sort -u | grep -vE '^\./(bench|contract|e2e|tools)(/|$$)')
scripts = $(shell git grep --untracked -lE '^\#!.*\b(ba)?sh$$' -- .ci bench e2e hooks internal/hookfile/shims packaging tools)

.PHONY: help pictures demo sim build sizes first-minute man dist release-check test test-all properties race vectors interleavings mutants mutate contract live fuzz e2e bench lint vuln

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: ## play the whole story on the embedded GitHub
	go run ./cmd/label-state demo

sim: ## run the embedded GitHub until interrupted; with SEEDS=20000, simulate so many fleets on it instead
ifeq ($(SEEDS),)
	go run ./cmd/label-state sim
else
	go test -count=1 -timeout 0 -run '^TestSeeds$$' ./internal/simulation -seeds $(SEEDS) -from $(FROM) -v | grep -vE '^ *(=== |--- PASS)'
endif

build: ## compile the programs into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ ./cmd/...

sizes: ## print how large the programs are, and what each part weighs
	go -C tools run ./sizes -C ..

first-minute: ## install, push until a push is refused and play the demo with empty caches, and print what it costs
	tools/first-minute

man: ## write the manual page to bin/label-state.1
	@mkdir -p bin
	go run -ldflags "-X main.version=$(VERSION)" ./cmd/label-state man >bin/label-state.1

dist: ## make what a release offers for download in dist/: of a snapshot, or of VERSION=v1.2.3
	tools/dist $(if $(filter-out file,$(origin VERSION)),$(VERSION))

release-check: ## check .goreleaser.yaml, make a snapshot and twice a release, and look at every byte
	tools/goreleaser check
	go test $(TESTFLAGS) -tags release -count=1 -timeout 40m -run '^TestDist' ./e2e

test: ## run the tests
	go test $(TESTFLAGS) ./...

# Packages that play a sample otherwise import internal/sample in their tests. All others are run as "make test" runs them, so
# that a result that is cached counts.
test-all: ## run the tests with all their cases: every seed, every crash, every fault
	LABEL_STATE_TEST=all go test -timeout 40m $(TESTFLAGS) $(sampled)
	go test $(TESTFLAGS) $$(go list ./... | grep -vxF "$$(go list $(sampled))")
	go -C tools test ./...

# With another seed each time, unless RAPID_SEED says which.
properties: ## draw RAPID_CHECKS cases for each property test (3000)
	RAPID_CHECKS=$(RAPID_CHECKS) go test -count=1 -timeout 2h $(TESTFLAGS) \
		$$(grep -rl --include='*_test.go' '"pgregory.net/rapid"' . | xargs -n 1 dirname | sort -u)

# Of packages whose code or tests start goroutines, themselves or by a server. The searches and the tests of texts that are left
# out run one goroutine at a time: there is no race to find, and they take ten times as long. TestOneRefusedRequest repeats what
# the scripts do. A third of the scripts is played, and each vector of the Action once; all of them every night.
race: ## run the tests with the race detector, where goroutines are
	LABEL_STATE_TEST=$(PLAYED) go test -timeout 60m $(TESTFLAGS) -race -skip '^(TestInterleavings.*|TestWhatDoesNotHold|TestSeeds|TestOneAnswer.*|TestOneRefusedRequest|TestReadme|TestCitations|TestSections)$$' $(raced)

vectors: ## hold the code against the public text vectors in testdata only
	go test -count=1 -run "Vectors|Table" ./internal/...

interleavings: ## every order of requests over the ledger, the night's larger scenarios
	go test -count=1 -timeout 4h -run 'TestInterleavings|TestWhatDoesNotHold' -v ./internal/ledger -args -deep

mutants: ## break every rule of the protocol in turn and name the test that notices
	go -C tools run ./mutants -C ..

mutate: ## change small things in PACKAGE=internal/claim, or everywhere, and print what no test notices (SEED, BUDGET=5m, N; EDGES=1: what differs for equal values alone)
	@go -C tools run ./mutate -C .. -seed $(SEED) -budget $(BUDGET) -n $(N) $(if $(EDGES),-edges) $(PACKAGE)

live: ## look at the real GitHub, in a scratch repository, for what no description says: GH_TOKEN=... make live REPO=owner/scratch
	@go -C contract run ./live -repo "$(REPO)"

contract: ## hold the embedded GitHub and the client against GitHub's own descriptions (npm)
	cd contract && npm ci --silent --ignore-scripts --no-audit --no-fund
	go -C contract test $(TESTFLAGS) -count=1 ./...

fuzz: ## run every fuzz test for FUZZTIME (10s)
	tools/fuzz $(FUZZTIME)

e2e: ## build the Action's image and run it as the runner does (Docker; e2e/docker-up starts it)
	go test -tags e2e -count=1 -timeout 30m -v ./e2e/...

hosts: ## drive five real hosts of coding agents and the MCP inspector, offline, against a scripted model (npm fetches 1.6 GB once)
	LABEL_STATE_REQUIRE=hosts,more-hosts,inspector,tmux go test -tags e2e -count=1 -timeout 40m -v ./e2e/hosts

bench: ## run the benchmarks, and the hook beside git and a hook written in shell
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) ./...
	go -C bench run ./hook $(HOOKBENCH)

lint: ## vet, format, static checks, workflows, scripts, tidy modules, the review greps
	go vet ./...
	go vet -tags e2e,release ./e2e/...
	for os in darwin windows; do GOOS=$$os go build -trimpath ./cmd/...; GOOS=$$os go vet -trimpath ./...; done # compiled as a release is
	files=$$($(tool) gofumpt -l .); [ -z "$$files" ] || { echo "not formatted by gofumpt:"; echo "$$files"; exit 1; }
	$(tool) staticcheck -tags e2e,release ./...
	for m in $(modules); do (cd $$m && go vet ./... && go tool -modfile=../tools/go.mod staticcheck ./...); done
	$(tool) actionlint .github/workflows/*.yml examples/*.yml
	shellcheck --severity=warning $(scripts)
	for m in . tools $(modules); do go -C $$m mod tidy -diff; done
	tools/review
	go -C tools run ./mutants -C .. -check
	go -C tools run ./mutate -C .. -check

pictures: ## draw the pictures in docs/ from real terminals (tmux)
	LABEL_STATE_REQUIRE=tmux go test -count=1 -run TestPictures ./internal/cli/app -pictures

vuln: ## look for known vulnerabilities (asks the Go vulnerability database)
	$(tool) govulncheck ./...
