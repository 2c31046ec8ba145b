# Banyan's chores. `make` lists them; each needs no other to have run before.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

# An older Go fetches the release that go.mod names.
export GOTOOLCHAIN ?= auto

# Packages with goroutines or threads: what the race detector looks at.
concurrent := ./mpi/... ./internal/runtime/engine ./internal/runtime/handshake ./internal/runtime/lane ./internal/runtime/seal \
	./internal/runtime/transport/... ./internal/job/agent ./internal/job/agent/deadline ./internal/job/agent/link \
	./internal/job/agent/remote ./internal/job/join ./internal/job/launcher ./internal/job/launcher/output \
	./internal/study/parallel ./internal/groupnode ./group

# What checks is compiled once, position-independent as the C library is, so that lint, the tests and
# the library that they build share all packages; without what debuggers read, which takes an eighth
# of compilation and a third of linking; and compilers collect garbage seldom, for some hundred
# megabytes more memory. docs/results/test-time.md has the figures.
checking = $(shell go env GOFLAGS) -buildmode=pie '-toolexec=env GOGC=400' -gcflags=all=-dwarf=false -ldflags=-w $(fixed)
quick test lint race asan check test-cluster test-browser: export GOFLAGS = $(checking)

# Programs that tests start hundreds of times. The system's linker gives them fixed addresses: to
# relocate banyan takes a third of its start. Go's own linker can't do so with what is compiled
# position-independent, and takes 0.1 to 0.5 s less for each.
started := banyan/cmd/banyan banyan/cmd/banyan/mpiexec banyan/cmd/banyan/mpicc banyan/examples/... banyan/bench/replication banyan/bench/membership \
	banyan/internal/mpi/comm banyan/internal/testing/hosts
fixed := $(foreach p,$(started),'-ldflags=$(p)=-w -linkmode=external -extldflags=-no-pie')

prefix ?= /usr/local
PREFIX ?= $(prefix)
fuzztime ?= 10s
soaktime ?= 10m
clusterflags ?=
browserflags ?= -pictures $(CURDIR)/docs/guide/status
distflags ?=
arches ?= amd64 arm64
swarms ?= 100000
sequences ?= 1000
schedules ?= 2000
worlds ?= 1000000
bcasts ?= 100000
kills ?= 20
lanes ?= 100000
since ?= HEAD

.PHONY: help tools build install uninstall dist test-dist profile generate quick test lint race asan check test-cluster test-browser manifests demo bench count bench-mpi bench-replication soak fuzz cover clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

tools:
	@scripts/tools.sh

build: tools ## the command, mpicc, mpiexec, the library for C and Fortran, the examples, into bin/
	go build -o bin/ ./examples/...
	scripts/library.sh
	rm -rf bin/share && scripts/share.sh bin/banyan bin/share

# Root may have no Go, or no right to the checkout: then what make build has made is installed as it is.
install: ## banyan, mpicc …, libraries, headers, manual pages, into DESTDIR and PREFIX (default /usr/local)
	@if [ -x bin/banyan ] && [ -d bin/share ] && { ! command -v go >/dev/null || [ ! -O bin ]; }; then \
		echo "installing what make build has made"; else $(MAKE) --no-print-directory build; fi
	scripts/install.sh install $(PREFIX)

uninstall: ## remove what make install has put there
	scripts/install.sh uninstall $(PREFIX)

dist: tools ## tarballs and packages for Debian, into bin/dist: the same bytes wherever they are built (arches='amd64 arm64')
	scripts/dist.sh $(arches)

test-dist: dist ## minutes: the same bytes from a second build elsewhere; as root: install the package on a bare Debian, and try it there
	command -v mmdebstrap >/dev/null || apt-get install -y --no-install-recommends mmdebstrap
	go test -vet=off -count=1 -timeout 30m -v ./internal/testing/installed -installed $(distflags)

generate: tools ## write what is made of abi/mpi-abi.json
	go generate ./abi ./capi ./fortran/...

quick: tools ## after each edit: formatting, house rules, unit tests of the packages that changed (since=HEAD)
	@scripts/quick.sh $(since)

test: tools ## all tests
	@# Once, before tests that build the command compile the same packages side by side. Unlike go build,
	@# this links no commands.
	go list -export -f '{{.Export}}' ./bench/... ./cmd/... ./examples/... ./internal/... >/dev/null
	@# Three packages at a time: some tests wait. Explorations and simulations leave much garbage and
	@# keep little. capi has no tests of its own: those of capi/test build it as a library.
	GOGC=400 go test -p 3 -vet=off $$(go list ./... | grep -vx banyan/capi)

lint: tools ## vet and staticcheck in one (internal/testing/lint)
	GOGC=800 go tool lint ./... # a third less time, for a gigabyte more memory

race: tools ## the tests of what has goroutines or threads, under the race detector
	go test -p 4 -buildmode=exe -vet=off -race -short $(concurrent) # four at a time: most of them wait

check: lint test race ## everything that a change must pass: these three

test-cluster: build ## as root: jobs on several hosts, made of namespaces, with sshd and Slurm; what becomes of them when hosts die (clusterflags=-short: without most faults and the storms; clusterflags='-run TestStorm -seed 7', '-run TestRollbackStorm -rollbacks 10m')
	scripts/cluster.sh install
	bin/mpicc -O2 -o bin/heat examples/heat/heat.c internal/testing/cluster/testdata/slow.c -lm
	bin/mpicc -O2 -o bin/dynamic capi/test/testdata/dynamic.c
	go test -vet=off -count=1 -timeout 60m ./internal/testing/cluster -cluster $(clusterflags)

test-browser: tools ## the page of --status in a headless Chromium, and the guide's pictures of it: half a minute (installs Debian's chromium-headless-shell if there is no browser; browserflags= leaves the pictures as they are)
	command -v chromium-headless-shell chromium >/dev/null || apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core
	go build -o bin/ ./cmd/banyan ./examples/cg
	go test -vet=off -count=1 -v ./internal/testing/browser -browser $(browserflags)

# Not these: the sanitizer's own functions stand between a program and the library, so that call sites and clocks
# aren't seen; it goes with no other library, and not with gcc's other sanitizer.
unsanitized = 'Check|Unset|Safepoints|Profiling|ThreadsAfter|Forlorn|LedClock|LedRollsBack|RmaLed|Model'

asan: tools ## the C library's tests under gcc's AddressSanitizer: a quarter of an hour
	SANITIZE=address go test -p 1 -timeout 30m -vet=off -skip $(unsanitized) ./capi/test/...

manifests: tools ## the files of deploy/kubernetes against the types of the API; a module of its own
	cd deploy/kubernetes/check && go vet . && go test -vet=off .

demo: build ## the main job: kill processes of a program, get the same answer
	bin/banyan demo

bench: build ## latency, bandwidth, allocations of messages; the simulator's speed
	bin/banyan bench messages
	go test -run '^$$' -bench . -benchmem ./bench

profile: build ## write capi/library.pgo, by which the compiler optimises the C library
	scripts/profile.sh

count: tools ## call each of MPI's functions once, and print how many answer
	go test -vet=off -count=1 -run TestEveryFunction ./capi/test -v

bench-mpi: build ## the C library beside Debian's Open MPI and MPICH, which this installs
	scripts/peers.sh
	bin/banyan bench mpi

bench-replication: build ## what replication costs, beside jobs without it; how long a death holds up
	bin/banyan bench replication

soak: tools ## hours: whole explorations; random faults, and no false suspicion under load, soaktime=10m each; bcasts=100000; sequences=1000 in groups; schedules=2000 of processes; worlds=1000000 whole jobs; kills=20 jobs under Hydra; lanes=100000 random programs of the C library
	BANYAN_EXPLORE=long go test -count=1 -timeout 0 ./internal/proto/... ./internal/study/...
	go test -count=1 -timeout 0 -v -run 'TestOneWorld$$' ./internal/study/oneworld -seeds $(worlds)
	go test -count=1 -race -short ./internal/study/campaign # make test doesn't: its libraries are half a minute's compilation
	go test -count=1 -timeout 0 -run 'TestSurvive|TestRollback' ./examples/cg -soak $(soaktime)
	go test -count=1 -timeout 0 -v -run TestHealsOn ./mpi -heals $(soaktime)
	go test -count=1 -timeout 0 -v -run TestAgreement ./bench/planning -jobs 200
	go test -count=1 -timeout 0 -run TestLed ./capi/test/survival -leds 100
	go test -count=1 -timeout 0 -run TestLed ./capi/test/recovery -ledheals 20 -ledrollbacks 20
	go test -count=1 -timeout 0 -run TestFilesKills ./capi/test/survival -filejobs 100
	go test -count=1 -timeout 0 -run TestLed ./examples/masterworker -leds 500 -healings 100
	go test -count=1 -timeout 0 -v -run TestNoFalseSuspicion ./internal/job/launcher -soak $(soaktime)
	go test -count=1 -timeout 0 -run 'TestSwarm$$|TestCuts' ./internal/proto/membership -seeds $(swarms)
	go test -count=1 -timeout 0 ./internal/runtime/process -runs $(schedules)
	go test -count=1 -timeout 0 -v -run BcastsSurvive ./internal/mpi/comm -bcasts $(bcasts)
	go test -count=1 -timeout 0 -v -run SharedSurvive ./internal/mpi/comm -shares $(bcasts)
	go test -count=1 -timeout 0 -v -run ResilientJobs ./internal/mpi/comm -resilients $(bcasts)
	go test -count=1 -timeout 0 -v -run AgreementJobs ./internal/mpi/comm -pacts $(bcasts)
	BANYAN_EXPLORE=long go test -count=1 -timeout 0 -v -run TestRevokedAgain ./internal/mpi/comm
	go test -count=1 -timeout 0 -v -run TestKills ./examples/stencil -soak $(soaktime)
	go test -count=1 -timeout 0 -v -run TestRandomKillsUnderHydra ./capi/test/survival -runs $(kills)
	BANYAN_EXPLORE=long go test -count=1 -timeout 0 -v -run 'TestHandover' ./internal/runtime/lane
	BANYAN_EXPLORE=long go test -count=1 -timeout 0 -v -run 'TestLane|TestCommons' ./capi/test/lane -lanes $(lanes) -commons $(lanes)
	go test -count=1 -timeout 0 -v -run 'TestFaultSequences$$' ./group -sequences $(sequences) | grep -v '^ *=== '

fuzz: tools ## fuzz every decoder, fuzztime=10s each
	scripts/fuzz.sh $(fuzztime)

cover: tools ## test coverage of the whole module
	@mkdir -p bin
	go test -short -coverpkg=./... -coverprofile=bin/cover.out ./...
	go tool cover -func=bin/cover.out | tail -n 1

clean: ## remove what make built
	rm -rf bin
