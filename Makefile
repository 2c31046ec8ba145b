# Banyan's chores. `make` lists them; each needs no other to have run before.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# An older Go fetches the release that go.mod names.
export GOTOOLCHAIN ?= auto

# Packages with goroutines or threads: what the race detector looks at.
concurrent := ./mpi/... ./internal/job ./internal/progress/... ./internal/transport/... ./internal/launch/... \
	./internal/campaign ./internal/parallel

PREFIX ?= /usr/local
fuzztime ?= 10s
soaktime ?= 10m

.PHONY: help tools build library generate test lint demo bench bench-mpi soak fuzz cover clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

tools:
	@scripts/tools.sh

build: tools library ## the commands, the C library and the example programs, into bin/
	go build -o bin/ ./cmd/... ./examples/...

# The soname is the standard's: programs built against any implementation of the ABI ask for it.
library: tools
	go build -buildmode=c-shared -ldflags '-extldflags=-Wl,-soname,libmpi_abi.so.1' -o bin/libmpi_abi.so.1 ./capi
	@rm -f bin/libmpi_abi.so.h
	ln -sf libmpi_abi.so.1 bin/libmpi_abi.so
	cp abi/mpi.h bin/

generate: tools ## write what is made of abi/mpi-abi.json
	go generate ./abi

test: lint ## everything that a change must pass
	go test ./...
	go test -race -short $(concurrent)

lint: tools ## vet and staticcheck (gofmt, import rules, purity: internal/lint, a test)
	go vet ./...
	go tool staticcheck ./...
	go test ./internal/lint

demo: build ## the main job: kill processes of a program, get the same answer
	scripts/demo.sh

bench: build ## latency, bandwidth, allocations of messages; the simulator's speed
	bin/banyan bench messages
	go test -run '^$$' -bench . -benchmem ./bench

bench-mpi: build ## the C library beside Debian's Open MPI and MPICH, which this installs
	scripts/peers.sh
	bin/banyan bench mpi

soak: tools ## random faults, and no false suspicion under load, soaktime=10m each
	go test -count=1 -timeout 0 -run TestSurvive ./examples/cg -soak $(soaktime)
	go test -count=1 -timeout 0 -v -run TestNoFalseSuspicion ./internal/launch -soak $(soaktime)

fuzz: tools ## fuzz every decoder, fuzztime=10s each
	scripts/fuzz.sh $(fuzztime)

cover: tools ## test coverage of the whole module
	@mkdir -p bin
	go test -short -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -func=bin/cover.out | tail -n 1

clean: ## remove what make built
	rm -rf bin
