#!/usr/bin/env bash
# Makes what is given to users, into bin/dist:
#
#   banyan-VERSION.tar.gz               the sources of the commit
#   banyan-VERSION-linux-ARCH.tar.gz    an installation, to be unpacked anywhere
#   banyan_VERSION_ARCH.deb             a package for Debian 12 or newer
#   SHA256SUMS
#
#   scripts/dist.sh [ARCH…]             amd64 and arm64 if none are named
#
# The same commit and the same compilers give the same bytes, wherever and whenever: no path, time,
# user or order of files goes into them. scripts/version.sh tells the version. For another processor
# than this machine's it needs Debian's cross compiler, and as root installs it. DIST=DIR is another
# directory for the results.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C TZ=UTC
umask 022

out=$(realpath -m "${DIST:-bin/dist}")
read -r version commit SOURCE_DATE_EPOCH < <(scripts/version.sh)
export SOURCE_DATE_EPOCH
export GOFLAGS="-trimpath -buildvcs=false" CGO_CFLAGS="-O2 -g0"
# Without what debuggers read. Go's stack traces have their names and lines all the same.
export LDFLAGS="-s -w -X banyan/cmd/banyan/internal/version.release=$version -X banyan/cmd/banyan/internal/version.revision=$commit"
here=$(go env GOHOSTARCH)
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
rm -rf "$out"
mkdir -p "$out"

triplet() { case $1 in amd64) echo x86_64-linux-gnu ;; arm64) echo aarch64-linux-gnu ;; *) echo "no cross compiler is known for $1" >&2 && exit 2 ;; esac; }

pack() { # directory name: a tarball of it
	tar --sort=name --owner=0 --group=0 --numeric-owner --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --mode=go=rX,u+w \
		-C "$1" -cf - "$2" | gzip -9n >"$out/$2.tar.gz"
	echo "$out/$2.tar.gz"
}

# make_arch ARCH builds for a processor, into $build/ARCH, in the form of bin/.
make_arch() {
	local arch=$1 at=$build/$1
	mkdir -p "$at/include" "$at/lib"
	(
		export GOARCH=$arch CGO_ENABLED=1 CC=gcc
		if [ "$arch" != "$here" ]; then
			CC=$(triplet "$arch")-gcc
			if ! command -v "$CC" >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
				apt-get install -qy --no-install-recommends "gcc-${CC%-gcc}" "libc6-dev-$arch-cross" >&2
			fi
			command -v "$CC" >/dev/null || { echo "$CC is missing: install the packages gcc-${CC%-gcc} and libc6-dev-$arch-cross" >&2; exit 1; }
		fi
		# The C library, with the command, in a tree of its own: what is linked there has no paths of it.
		KEPT=$at scripts/library.sh "$at/unused"
		CGO_ENABLED=0 go build -ldflags "$LDFLAGS" -o "$at/cg" ./examples/cg
	)
	mv "$at"/*.mod "$at/include"
	cp -r "$build/share" "$at/share"
}

# The command of this machine writes the pages for all.
go build -ldflags "$LDFLAGS" -o "$build/banyan" ./cmd/banyan
scripts/share.sh "$build/banyan" "$build/share"

if [ -d .git ] || git rev-parse -q --verify HEAD >/dev/null 2>&1; then
	echo "$version $commit $SOURCE_DATE_EPOCH" >"$build/VERSION"
	git archive --format=tar --prefix="banyan-$version/" --add-file="$build/VERSION" HEAD |
		gzip -9n >"$out/banyan-$version.tar.gz"
	echo "$out/banyan-$version.tar.gz"
fi

[ $# -gt 0 ] || set -- amd64 arm64
for arch; do
	make_arch "$arch"
	name=banyan-$version-linux-$arch
	tree=$build/$name
	BUILT=$build/$arch DESTDIR=$tree scripts/install.sh install /
	# It may be unpacked anywhere: pkg-config knows where it has found the file.
	sed -i 's,^prefix=.*,prefix=${pcfiledir}/../..,' "$tree"/lib/pkgconfig/banyan*.pc
	pack "$build" "$name"
	ARCH=$arch TRIPLET=$(triplet "$arch") BUILT=$build/$arch VERSION=$version scripts/deb.sh "$build/deb-$arch" "$out"
done
(cd "$out" && sha256sum -- * >SHA256SUMS)
