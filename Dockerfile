# The Action's image: one static binary and the CA roots, nothing else. It runs as root because the
# runner's mounts belong to other users (docs.github.com, "Dockerfile support for GitHub Actions").
#
# BuildKit compiles on the machine it runs on for TARGETARCH; the classic builder knows neither
# platform and makes an image for its own machine.
ARG GO_IMAGE=golang:1.26-alpine

FROM --platform=${BUILDPLATFORM:-linux} ${GO_IMAGE} AS build
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /src
COPY . .
# No separate "go mod download": it would fetch what only the tests need.
RUN CGO_ENABLED=0 GOOS=linux GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=${VERSION}" \
    -o /label-state-action ./cmd/action

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /label-state-action /label-state-action
ENTRYPOINT ["/label-state-action"]
