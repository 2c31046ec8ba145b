#!/usr/bin/env bash
# Writes into DIR what an installation has below PREFIX/share, the same on all architectures: manual
# pages, completion for shells, the environment module, documents, and banyan/mpi and banyan/group
# as a module of Go. BANYAN is the command that writes the first two.
#
#   scripts/share.sh BANYAN DIR
set -euo pipefail
cd "$(dirname "$0")/.."

banyan=$1 share=$2
read -r version _ < <(scripts/version.sh)
mkdir -p "$share"

"$banyan" texts "$share"
install -D -m 644 -t "$share/man/man1" deploy/package/mpicc.1
for name in mpicxx mpic++ mpifort mpif77 mpif90; do
	echo .so man1/mpicc.1 >"$share/man/man1/$name.1"
done

mkdir -p "$share/modulefiles/banyan"
sed "s/@VERSION@/$version/" deploy/package/modulefile >"$share/modulefiles/banyan/$version"

doc=$share/doc/banyan
mkdir -p "$doc/docs/guide" "$doc/examples" "$doc/container"
install -m 644 -t "$doc" README.md CHANGELOG.md LICENSE
install -m 644 -t "$doc/docs/guide" docs/guide/*.md
install -m 644 -t "$doc/examples" examples/heat/heat.c deploy/package/sum.f90 deploy/package/sum.py
install -m 644 -t "$doc/container" deploy/package/Containerfile

scripts/gomodule.sh "$share/banyan/go"

install -m 644 -D -t "$share/banyan" examples/cg/data/bcsstk16.mtx.gz
