#!/usr/bin/env bash
# Puts what make build has made into PREFIX (make install), or takes it away again (make uninstall).
# Everything in PREFIX finds the rest by its own place, so PREFIX can be moved, but for
# lib/pkgconfig/banyan*.pc and the paths in programs that were built there. DESTDIR is put before
# PREFIX, for packagers.
#
#   scripts/install.sh install PREFIX
#   scripts/install.sh uninstall PREFIX
#
# BUILT is the directory with what was built, bin if not given.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1 prefix=$2
built=${BUILT:-bin}
case $prefix in
/*) ;;
*) echo "PREFIX=$prefix: it must begin with /" >&2 && exit 2 ;;
esac
root=${DESTDIR:-}$prefix
list=$root/share/banyan/installed # the names of all files, for uninstall

case $what in
install)
	BUILT=$built scripts/library.sh "$prefix"
	install -D -m 755 -t "$root/libexec/banyan" "$built/cg"
	cp -r --no-preserve=ownership "$built/share" "$root/"
	cmake=$root/lib/cmake/Banyan
	read -r version _ < <(scripts/version.sh)
	mkdir -p "$cmake"
	install -m 644 -t "$cmake" deploy/package/BanyanConfig.cmake
	sed "s/@VERSION@/${version%%+*}/" deploy/package/BanyanConfigVersion.cmake >"$cmake/BanyanConfigVersion.cmake"
	{
		(cd "$built/share" && find . -type f) | sed 's,^\.,share,'
		(cd "$root" && find lib/cmake/Banyan libexec/banyan lib/pkgconfig/banyan*.pc lib/libmpi_abi* lib/libmpifort_abi* \
			lib/libbanyan-{veloc,fti}.so* include/banyan/{veloc,fti}.h \
			include/{mpi,mpi-ext,mpif,mpif-ext}.h include/mpi-ext.c include/{mpi,mpi_f08,mpi_ext}.mod \
			bin/{banyan,mpiexec,mpirun,mpicc,mpicxx,mpic++,mpifort,mpif77,mpif90} ! -type d 2>/dev/null || true)
	} | LC_ALL=C sort >"$list"
	;;
uninstall)
	[ -f "$list" ] || { echo "there is no Banyan in $root: no file $list" >&2; exit 1; }
	sed "s,^,$root/," "$list" | tr '\n' '\0' | xargs -0 rm -f
	rm -f "$list"
	for dir in share/banyan share/doc/banyan share/modulefiles/banyan libexec/banyan lib/cmake/Banyan include/banyan; do
		[ ! -d "$root/$dir" ] || find "$root/$dir" -depth -type d -empty -delete
	done
	;;
*)
	echo "usage: scripts/install.sh install|uninstall PREFIX" >&2
	exit 2
	;;
esac
