#!/usr/bin/env bash
# Checks that the tools for the build are installed: Go and a C compiler. As root on a Debian-like
# system it installs missing tools. Otherwise it says what to install. It prints nothing if nothing is
# missing.
set -euo pipefail

# oldest is the first Go that fetches, by itself, the release go.mod asks for.
oldest=1.21

provide() { # command package purpose
	command -v "$1" >/dev/null && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "installing $2 ($3)" >&2
		{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$2"; } >&2
	fi
	command -v "$1" >/dev/null && return
	echo "$1 is missing ($3): install the package $2, or run make as root to have it installed" >&2
	exit 1
}

provide go golang-go "Go compiler, $oldest or newer"
provide gcc build-essential "C compiler, for the race detector and the C library"
provide gfortran gfortran "Fortran compiler, for the module mpi"

have=$(cd / && GOTOOLCHAIN=local go env GOVERSION) # outside the module: the Go installed, not the one go.mod names
have=${have#go}
if [ "$(printf '%s\n%s\n' "$oldest" "${have%% *}" | sort -V | head -n 1)" != "$oldest" ]; then
	echo "Go $have is too old: $oldest or newer is needed (https://go.dev/dl), which then fetches the release in go.mod" >&2
	exit 1
fi
