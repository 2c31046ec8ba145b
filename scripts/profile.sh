#!/usr/bin/env bash
# Writes capi/library.pgo, the profile by which the compiler optimises the C library
# (profile-guided optimisation: go.dev/doc/pgo). It profiles small messages and small collectives,
# where instructions count, and small messages with replicas. Run it on a quiet machine when the
# message path has changed much. "banyan bench instructions" shows the gain. The compiler finds the
# hot calls by the names of functions and their lines inside them: a renamed function on the message
# path costs some per cent until the profile is written anew.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir "$build/bin" "$build/notes"
cp -a bin/. "$build/bin/"
rm "$build/bin/libmpi_abi.so.1"
go build -pgo capi/library.pgo -buildmode=c-shared -tags profiling -ldflags '-extldflags=-Wl,-soname,libmpi_abi.so.1' -o "$build/bin/libmpi_abi.so.1" ./capi
"$build/bin/mpicc" -O2 -DENOUGH=4.0 -o "$build/row" bench/peers/programs/row.c
"$build/bin/mpicc" -O2 -o "$build/pingpong" bench/replication/programs/pingpong.c
# What the lane and the common memory do in C isn't Go's to optimise, and hides what Go does elsewhere.
export BANYAN_CPUPROFILE=$build/profile BANYAN_LANE=off
for row in "latency 8" "latency 1024" "stream 8" "barrier 0" "bcast 8" "allreduce 8" "alltoall 8"; do
	"$build/bin/mpiexec" -n 2 "$build/row" $row >/dev/null
done
"$build/bin/mpiexec" -n 4 "$build/row" bcast 8 >/dev/null
# Replicas must send the same. programs/row.c finds its number of rounds by the clock; this program is
# told it. Four processes share two cores and wait a lot, and each is profiled for only 3 s. So the
# program runs several times.
touch "$build/notes/go"
for bytes in 8 8 8 8 1024 1024 1024 1024; do
	"$build/bin/mpiexec" -n 2 --replicas 2 "$build/pingpong" "$build/notes" $bytes 600000
done
# The profile leaves out the time spent waiting, because its speed doesn't matter.
go tool pprof -symbolize=none -ignore 'Syscall6|linger' -proto "$build"/profile.* 2>/dev/null >"$build/merged"
mv "$build/merged" capi/library.pgo
