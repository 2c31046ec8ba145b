#!/usr/bin/env bash
# What to run after each edit: formatting, the house rules, vet and the short unit tests of the
# packages that changed.
#
#   scripts/quick.sh          what differs from the last commit
#   scripts/quick.sh main     what differs from main
#
# It doesn't run jobs, soaks or the race detector: make test, make soak and make race do.
set -euo pipefail
cd "$(dirname "$0")/.."
since=${1:-HEAD}

mapfile -t files < <({ git diff --name-only --diff-filter=d "$since" -- '*.go'; git ls-files --others --exclude-standard -- '*.go'; } | sort -u)

packages=()
if [ ${#files[@]} -gt 0 ]; then
	unformatted=$(gofmt -l "${files[@]}")
	if [ -n "$unformatted" ]; then
		printf 'run gofmt -w on:\n%s\n' "$unformatted" >&2
		exit 1
	fi
	# Folders named testdata are no packages; a folder whose last Go file went is gone.
	mapfile -t packages < <(for f in "${files[@]}"; do dirname "./$f"; done | grep -v /testdata | sort -u)
fi

go build ./...
go test -vet=off ./internal/testing/house
if [ ${#packages[@]} = 0 ]; then
	echo "no Go file differs from $since: only the house rules were checked"
	exit
fi
echo "changed since $since: ${packages[*]}"
go vet "${packages[@]}"
go test -vet=off -short -timeout 5m "${packages[@]}"
