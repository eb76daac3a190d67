# Everything is a plain target: `make` prints the list. Needs Go, make and bash; Python 3 with pip for the DVC test only.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

DIST      := build/otelcol-train
BINARY    := $(DIST)/otelcol-train
MODULES   := $(shell sed -n 's,^[[:space:]]*\./,,p' go.work)
UNIT      := $(filter-out test test/%,$(MODULES))
ONBUILT   := $(filter test test/%,$(MODULES))
TAGS      := $(shell sed -n 's/^  build_tags: "\(.*\)"/\1/p' builder-config.yaml)
VERSION   := $(shell sed -n 's/^  version: \([^ ]*\).*/\1/p' builder-config.yaml)
VULNDB    ?=
# ocb generates and compiles outside the workspace, so that a user who copies the manifest gets the same binary.
DISTENV   := GOWORK=off CGO_ENABLED=0
GOLANGCI  := v2.15.0
JAEGER    := v1.76.0
TESTFLAGS ?=
SOAK      ?= 30m
export OTELCOL_TRAIN ?= $(CURDIR)/$(BINARY)
export TRAINSUMMARY ?= $(CURDIR)/build/trainsummary

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "%-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: $(DIST)/go.sum ## compile the distribution to build/otelcol-train/otelcol-train
	@cd $(DIST) && $(DISTENV) go build -trimpath -buildvcs=false -ldflags="-s -w" -tags "$(TAGS)" -o otelcol-train .
	@echo "built $(BINARY)"

# A command is called after its folder, but otelcol-train-compat.
COMMANDS := $(patsubst cmd/%,build/%,$(patsubst cmd/compat,cmd/otelcol-train-compat,$(filter cmd/%,$(MODULES))))

.PHONY: commands
commands: ## compile the commands beside the distribution to build/
	@mkdir -p build
	@for c in $(COMMANDS); do m=cmd/$${c#build/}; [ -d "$$m" ] || m=cmd/compat; GOWORK=off CGO_ENABLED=0 go build -C "$$m" -trimpath -buildvcs=false -ldflags="-s -w -X main.version=$(VERSION)" -o "$(CURDIR)/$$c" .; done

TOOL_ocb             := go.opentelemetry.io/collector/cmd/builder
TOOL_nfpm            := github.com/goreleaser/nfpm/v2/cmd/nfpm
TOOL_cyclonedx-gomod := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
TOOL_govulncheck     := golang.org/x/vuln/cmd/govulncheck

build/ocb build/nfpm build/cyclonedx-gomod build/govulncheck: tools/go.mod tools/go.sum
	@mkdir -p build
	@GOWORK=off go build -C tools -o ../$@ $(TOOL_$(@F))
	@touch $@

# The generated sources are as old as the manifest and the go.mod files they were made from.
$(DIST)/go.sum: builder-config.yaml build/ocb $(addsuffix /go.mod,$(filter-out cmd/% packaging,$(UNIT)))
	@$(DISTENV) build/ocb --config builder-config.yaml --skip-compilation >build/ocb.log 2>&1 || { cat build/ocb.log; exit 1; }
	@touch $@

.PHONY: sbom
sbom: build commands build/cyclonedx-gomod ## write dist/sbom.json (CycloneDX) and dist/NOTICE
	@mkdir -p dist
	@build/cyclonedx-gomod bin -json -noserial -std -version $(VERSION) -output dist/sbom.json $(BINARY) 2>build/sbom.log || { cat build/sbom.log; exit 1; }
	@go run ./packaging/notice -sbom dist/sbom.json -notice dist/NOTICE $(BINARY) $(COMMANDS)

.PHONY: package
package: sbom build/nfpm ## write dist/*.deb, dist/*.rpm and dist/SHA256SUMS
	@scripts/package $(VERSION)

.PHONY: image
image: sbom ## write the container image dist/*.oci.tar; needs buildah
	@scripts/image $(VERSION)

.PHONY: vuln
vuln: build commands build/govulncheck ## look for known vulnerabilities in the binaries; VULNDB=file:///... names a mirror of the database
	@scripts/vuln "$(VULNDB)" $(BINARY) $(COMMANDS)

.PHONY: demo
demo: build commands ## run the main job by itself on live-written sample streams
	@go run ./test/demo

.PHONY: test
test: build commands stock faults package build/govulncheck ## all tests: every module, then the built binary and the real DVC
	go test $(TESTFLAGS) $(addprefix ./,$(addsuffix /...,$(UNIT)))
	go test -v -count=1 $(TESTFLAGS) $(addprefix ./,$(addsuffix /...,$(ONBUILT))) | scripts/loud

.PHONY: e2e
e2e: build commands stock faults ## the tests on the built binary only
	go test -v -count=1 $(TESTFLAGS) ./test/e2e/... ./test/compat/... ./test/summary/... ./test/policy/... ./test/monitoring/... ./test/docs/... | scripts/loud

.PHONY: race
race: ## the tests of the components, and of what their goroutines share, with the race detector
	CGO_ENABLED=1 go test -race -timeout 15m $(addprefix ./,$(addsuffix /...,$(filter connector/% exporter/% internal/component% internal/trainrecord processor/% receiver/%,$(UNIT))))

.PHONY: bench
bench: ## short benchmarks of every module
	go test -run '^$$' -bench . -benchtime 200ms -benchmem $(addprefix ./,$(addsuffix /...,$(UNIT)))

.PHONY: bench-receiver
bench-receiver: build ## what train_jsonl costs beside file_log: the full measurement, some minutes on a machine that does nothing else
	@go run ./test/bench -suite train_jsonl

.PHONY: bench-norm
bench-norm: build ## what train_jsonl and training_norm cost together beside file_log, on records and on rows of Hugging Face; as long
	@failed=0; for suite in norm_native norm_rows; do go run ./test/bench -suite $$suite || failed=1; done; \
	  OTELCOL_TRAIN_MEASURE=full go test -v -count=1 -run 'TestAThousandInterleavedRunsCostNoMore' ./processor/trainingnormprocessor || failed=1; exit $$failed

.PHONY: bench-results
bench-results: build ## what the whole way from lines to results costs beside file_log; as long
	@go run ./test/bench -suite results

.PHONY: bench-signals
bench-signals: build ## what training_signals adds to the way of 10,000 runs of 1,000 lines, beside file_log, and its memory; about ten minutes, 5 GB in build/bench
	@failed=0; for suite in signals signals_memory; do go run ./test/bench -suite $$suite || failed=1; done; exit $$failed

.PHONY: bench-gate
bench-gate: build commands ## the same, small: fails when a ratio misses its target by more than 1.25
	@go run ./test/bench -suite train_jsonl -size gate
	@go run ./test/bench -suite norm_native -size gate
	@go run ./test/bench -suite signals -size gate
	@go run ./test/bench -suite results_state -size gate
	@OTELCOL_TRAIN_MEASURE=1 go test -v -count=1 -run 'TestAThousandInterleavedRunsCostNoMore' ./processor/trainingnormprocessor
	@OTELCOL_TRAIN_MEASURE=1 go test -v -count=1 -run 'TestItsCPUBesideThatOfDecoding|TestAnIdleWaitCostsNothing' ./test/summary

.PHONY: bench-guard
bench-guard: ## what cardinality_guard costs beside upstream processors: the full measurement, a minute on a machine that does nothing else
	@go run ./test/guardbench

.PHONY: bench-guard-gate
bench-guard-gate: ## the same, small: fails when a ratio misses its target by more than 1.25, in each of four processes
	@for process in 1 2 3 4; do go run ./test/guardbench -size gate && exit 0; done; exit 1

.PHONY: soak
soak: build ## 200 live runs, 8 GPUs and a backend that fails every other minute, for SOAK (30m), on a machine that does nothing else
	go test -v -count=1 -timeout 12h ./test/soak -args -soak=$(SOAK)

.PHONY: soak-guard
soak-guard: ## the properties of cardinality_guard with the race detector, each for SOAK (30m)
	@scripts/soak-guard $(SOAK)

.PHONY: jaeger
jaeger: ## compile a Jaeger, which test/signals has read a trace; long, and it downloads what that needs
	@mkdir -p build/jaeger-module && cd build/jaeger-module && printf 'module jaeger\n\ngo 1.26.0\n' >go.mod && \
	  GOWORK=off GOFLAGS=-mod=mod go get -tool github.com/jaegertracing/jaeger/cmd/jaeger@$(JAEGER) && \
	  GOWORK=off CGO_ENABLED=0 GOFLAGS=-mod=mod go build -o ../jaeger github.com/jaegertracing/jaeger/cmd/jaeger

.PHONY: stock
stock: build/stock/stock ## compile a Collector of upstream components only, for the comparison in test/e2e

build/stock/stock: test/stock/builder-config.yaml build/ocb
	@$(DISTENV) build/ocb --config test/stock/builder-config.yaml --skip-compilation >build/stock.log 2>&1 || { cat build/stock.log; exit 1; }
	@cd build/stock && $(DISTENV) go build -trimpath -buildvcs=false -ldflags="-s -w" -tags "$(TAGS)" -o stock .
	@touch $@

.PHONY: faults
faults: build ## compile the distribution with fault points, for the crash test in test/e2e
	@mkdir -p build/faults
	@cd $(DIST) && $(DISTENV) go build -trimpath -buildvcs=false -ldflags="-s -w" -tags "$(TAGS),faults" -o ../faults/otelcol-train .

.PHONY: vet
vet: ## go vet of every module
	go vet $(addprefix ./,$(addsuffix /...,$(MODULES)))

.PHONY: fuzz
fuzz: ## every fuzz target for ten seconds
	@scripts/fuzz 10

.PHONY: lint
lint: vet build/bin/golangci-lint ## text files only, gofmt, go vet, golangci-lint
	@scripts/text-check
	@scripts/gofmt-check
	for m in $(MODULES); do (cd $$m && $(CURDIR)/build/bin/golangci-lint run --allow-parallel-runners ./...); done

build/bin/golangci-lint:
	GOWORK=off GOBIN=$(CURDIR)/build/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)

.PHONY: fmt
fmt: ## gofmt every file of the repository
	@git ls-files -z '*.go' | xargs -0 -r gofmt -w

.PHONY: docs
docs: build ## write the generated pages anew: docs/records.md, docs/frameworks, docs/components.md, the table of docs/replace-host-collector.md
	@go run ./internal/trainrecord/cmd/vocabdoc .
	@go run ./internal/trainprofile/cmd/profiledoc .
	@go test -count=1 ./test/compat -run 'Page' -update >/dev/null

.PHONY: validate
validate: build ## check each configuration in config/
	@for c in config/*.yaml; do $(BINARY) validate --config $$c; echo "valid $$c"; done

.PHONY: clean
clean: ## remove what the build made
	rm -rf build dist
