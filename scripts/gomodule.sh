#!/usr/bin/env bash
# Writes into DIR the packages mpi and group, with those below them, as a module of Go, with all that they
# need of this one and nothing else but some examples: no tests, no simulators, and none of their
# dependencies.
#
#   scripts/gomodule.sh DIR
set -euo pipefail
cd "$(dirname "$0")/.."

go=$1
module=$(go list -m)
examples=(workqueue shards leader) # of package group, as the guide names them
public=(./mpi/... ./group/... "${examples[@]/#/./examples/}")
mkdir -p "$go"
for package in $(go list -deps -f '{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}' "${public[@]}"); do
	dir=${package#"$module"/}
	mkdir -p "$go/$dir"
	find "$dir" -maxdepth 1 -type f ! -name '*_test.go' -exec install -m 644 -t "$go/$dir" {} +
done
install -m 644 -t "$go" LICENSE
install -m 644 -D examples/ring/main.go "$go/examples/ring/main.go"
{
	printf 'module %s\n\ngo %s\n\nrequire (\n' "$module" "$(go list -m -f '{{.GoVersion}}')"
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}' "${public[@]}" | sort -u | sed 's/^/\t/'
	echo ')'
} >"$go/go.mod"
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}' "${public[@]}" | sort -u |
	while read -r path of; do grep "^$path $of[ /]" go.sum; done >"$go/go.sum"
