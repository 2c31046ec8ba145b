#!/usr/bin/env bash
# Fuzzes every target of the module for the given time each (default 10s).
set -euo pipefail
cd "$(dirname "$0")/.."

grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u | while read -r package; do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" "$package"
	done
done
