#!/usr/bin/env bash
# Installs Debian's Open MPI and MPICH, which "banyan bench mpi" measures beside ours.
# Both can be installed at once: their commands are mpicc.openmpi, mpicc.mpich and so on.
set -euo pipefail

usage() {
	cat <<-'END'
		usage: scripts/peers.sh

		Installs Debian's Open MPI and MPICH where they are missing, as root and with apt-get. "banyan
		bench mpi", "banyan bench instructions" and "banyan bench startup" measure them beside Banyan.
	END
}
case ${1:-} in
'') ;;
help | -h | --help) usage && exit ;;
*) usage >&2 && exit 2 ;;
esac

missing=()
command -v mpicc.openmpi >/dev/null || missing+=(openmpi-bin libopenmpi-dev)
command -v mpicc.mpich >/dev/null || missing+=(mpich libmpich-dev)
[ ${#missing[@]} = 0 ] && exit
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing ${missing[*]}" >&2
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"; } >&2
else
	echo "${missing[*]} aren't installed: the benchmark goes without" >&2
fi
