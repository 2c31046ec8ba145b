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

# The packages that programs in Go need of this module, without tests, simulators and their
# dependencies.
go=$share/banyan/go
module=$(go list -m)
mkdir -p "$go"
for package in $(go list -deps -f '{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}' ./mpi ./group); do
	dir=${package#"$module"/}
	mkdir -p "$go/$dir"
	find "$dir" -maxdepth 1 -type f ! -name '*_test.go' -exec install -m 644 -t "$go/$dir" {} +
done
install -m 644 -t "$go" LICENSE
install -m 644 -D examples/ring/main.go "$go/examples/ring/main.go"
{
	printf 'module %s\n\ngo %s\n\nrequire (\n' "$module" "$(go list -m -f '{{.GoVersion}}')"
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}' ./mpi ./group | sort -u | sed 's/^/\t/'
	echo ')'
} >"$go/go.mod"
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}' ./mpi ./group | sort -u |
	while read -r path of; do grep "^$path $of[ /]" go.sum; done >"$go/go.sum"

install -m 644 -D -t "$share/banyan" examples/cg/data/bcsstk16.mtx.gz
