# The Action's image: one static binary and the CA roots, nothing else. It runs as root because the
# runner's mounts belong to other users (docs.github.com, "Dockerfile support for GitHub Actions").
#
# BuildKit compiles on the machine it runs on for TARGETARCH; the classic builder knows neither
# platform and makes an image for its own machine. A release is compiled by the Go of this image,
# also outside of Docker (tools/go-version).
FROM --platform=${BUILDPLATFORM:-linux} golang:1.26.8-alpine@sha256:ce864e7223ac17b1775e6fd0b4c0db580c2eb50e7953a427916379e4b92a1628 AS build
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
