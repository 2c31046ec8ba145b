#!/usr/bin/env bash
# Makes in DIR, which must be empty or new, what is published as a module of Go under PATH: the packages
# mpi and group, all that they need, and the documents. The module is called banyan in this tree. In DIR
# go.mod, imports, comments and documents have PATH instead, so that
#
#   go get PATH@VERSION && go mod tidy
#
# works. DIR is pushed as the root of PATH's repository, with a tag of the version (vX.Y.Z).
# internal/testing/published tries what comes out.
#
#   scripts/publish.sh PATH DIR            such as github.com/someone/banyan /tmp/banyan
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# != 2 ]; then
	echo "usage: scripts/publish.sh PATH DIR" >&2
	exit 2
fi
path=$1 dir=$2
if ! [[ $path =~ ^[a-z0-9.-]+\.[a-z]+(/[A-Za-z0-9._~-]+)+$ ]]; then
	echo "scripts/publish.sh: $path is no path of a module: it begins with a host, as in github.com/someone/banyan" >&2
	exit 2
fi
if [[ $path =~ /v[0-9]+$ ]]; then
	echo "scripts/publish.sh: $path ends with a major version, and no version 2 has been published" >&2
	exit 2
fi
if [ -e "$dir" ] && [ -n "$(ls -A "$dir")" ]; then
	echo "scripts/publish.sh: $dir isn't empty" >&2
	exit 2
fi
module=$(go list -m)
scripts/gomodule.sh "$dir"
install -m 644 -t "$dir" README.md CHANGELOG.md CONTRIBUTING.md
for folder in guide design design/decisions results; do
	install -m 644 -D -t "$dir/docs/$folder" docs/$folder/*.md
done
cd "$dir"

go mod edit -module "$path"
# A name of a package is the module, a slash and a folder of it. Before it there is no part of another
# path, as in /usr/lib/banyan/examples. In strings the module and the slash may stand alone.
folders=$(find . -mindepth 1 -maxdepth 1 -type d -printf '%f|')
names="s#(^|[^A-Za-z0-9_/.~-])$module/(${folders}cmd|capi|bench)\\b#\\1$path/\\2#g"
find . -name '*.go' -exec sed -i -E -e "s#\"$module/#\"$path/#g" -e "$names" {} +
find . -name '*.md' -exec sed -i -E -e "$names" \
	-e "s#go mod edit -require $module@v0\\.0\\.0 -replace $module=[^ ]+( && go mod tidy)?#go get $path@latest \&\& go mod tidy#g" {} +
# gofmt sorts imports within their group.
gofmt -l -w . >/dev/null
