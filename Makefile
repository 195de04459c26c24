# What a developer and CI run. Every target needs Go and git; e2e needs Docker too, contract npm, lint shellcheck.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 10s
tool := go tool -modfile=tools/go.mod
scripts := .ci/run e2e/build-image e2e/docker-up e2e/stand-in tools/fuzz tools/review tools/transcript

.PHONY: help demo sim build test race vectors contract fuzz e2e bench lint vuln

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: ## play the whole story on the embedded GitHub
	go run ./cmd/label-state demo

sim: ## run the embedded GitHub until interrupted
	go run ./cmd/label-state sim

build: ## compile the programs into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ ./cmd/...

test: ## run the tests
	go test ./...

race: ## run the tests with the race detector
	go test -race ./...

vectors: ## hold the code against the public text vectors in testdata only
	go test -count=1 -run "Vectors|Table" ./internal/...

contract: ## hold the embedded GitHub and the client against GitHub's own descriptions (npm)
	cd contract && npm ci --silent --ignore-scripts --no-audit --no-fund
	go -C contract test -count=1 ./...

fuzz: ## run every fuzz test for FUZZTIME (10s)
	tools/fuzz $(FUZZTIME)

e2e: ## build the Action's image and run it as the runner does (Docker; e2e/docker-up starts it)
	go test -tags e2e -count=1 -v ./e2e/...

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

lint: ## vet, format, static checks, workflows, scripts, tidy modules, the review greps
	go vet ./...
	go vet -tags e2e ./e2e/...
	go -C contract vet ./...
	files=$$($(tool) gofumpt -l .); [ -z "$$files" ] || { echo "not formatted by gofumpt:"; echo "$$files"; exit 1; }
	$(tool) staticcheck -tags e2e ./...
	cd contract && go tool -modfile=../tools/go.mod staticcheck ./...
	$(tool) actionlint
	shellcheck --severity=warning $(scripts) $(wildcard hooks/*)
	go mod tidy -diff
	go -C contract mod tidy -diff
	go -C tools mod tidy -diff
	tools/review

vuln: ## look for known vulnerabilities (asks the Go vulnerability database)
	$(tool) govulncheck ./...
