#!/usr/bin/env bash
# Writes capi/default.pgo, the profile by which the compiler optimises the C library
# (profile-guided optimisation: go.dev/doc/pgo): small messages and small collectives, since there
# instructions count. To be run on a quiet machine when the message path has changed much;
# "banyan bench instructions" tells what it brings. A profile that is out of date does no harm.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
mkdir "$build/bin"
cp -a bin/. "$build/bin/"
rm "$build/bin/libmpi_abi.so.1"
go build -buildmode=c-shared -tags profiling -ldflags '-extldflags=-Wl,-soname,libmpi_abi.so.1' -o "$build/bin/libmpi_abi.so.1" ./capi
"$build/bin/mpicc" -O2 -DENOUGH=4.0 -o "$build/row" bench/peers/programs/row.c
export BANYAN_CPUPROFILE=$build/profile
for row in "latency 8" "latency 1024" "stream 8" "barrier 0" "bcast 8" "allreduce 8" "alltoall 8"; do
	"$build/bin/mpiexec" -n 2 "$build/row" $row >/dev/null
done
"$build/bin/mpiexec" -n 4 "$build/row" bcast 8 >/dev/null
go tool pprof -symbolize=none -proto "$build"/profile.* 2>/dev/null >"$build/merged"
mv "$build/merged" capi/default.pgo
