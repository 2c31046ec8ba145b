#!/usr/bin/env bash
# Builds the command and the libraries for C, C++ and Fortran programs, and puts them, the
# headers and the command's other names
#
#   scripts/library.sh            into bin/, for use from the source tree
#   scripts/library.sh PREFIX     into PREFIX/{bin,lib,include}
#
# DESTDIR is put before PREFIX, for packagers. Without gfortran there are no modules
# (mpi, mpi_f08, mpi_ext) and no mpifort to use them; include 'mpif.h' needs neither here. PROFILE=off builds the library
# without its profile, for tests: they share then what Go has compiled. KEPT=DIR keeps what is
# linked in DIR, and links what is up to date there no second time. BUILT=DIR builds nothing, but
# takes what this script has put into DIR. LDFLAGS are the Go linker's. SANITIZE=address has gcc's AddressSanitizer
# check what the library does in C; make asan tests such a one. For another processor set
# GOARCH, CC and CGO_ENABLED=1; the modules of Fortran are those of this machine's compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${1:-}
root=${DESTDIR:-}$prefix
if [ -n "$prefix" ]; then
	bin=$root/bin lib=$root/lib include=$root/include
else
	bin=bin lib=bin include=bin/include
fi
mkdir -p "$bin" "$lib" "$include"

cc=${CC:-gcc}
modules=
if [ -n "${BUILT:-}" ]; then
	build=$BUILT modules=$BUILT/include
elif [ -n "${KEPT:-}" ]; then
	build=$KEPT modules=$KEPT
	mkdir -p "$build"
	exec 9>"$build/lock"
	flock 9
else
	build=$(mktemp -d)
	modules=$build
	trap 'rm -rf "$build"' EXIT
fi

# Running programs have the library mapped. So the script replaces it and doesn't overwrite it.
put() { # file directory
	install -m 755 "$1" "$2/.new-$(basename "$1")"
	mv -f "$2/.new-$(basename "$1")" "$2/$(basename "$1")"
}

compile() { # into $build
	# An empty -ldflags would take back those in GOFLAGS.
	go build ${LDFLAGS:+-ldflags "$LDFLAGS"} -o "$build/" ./cmd/banyan
	# Without C (its resolver is Go's) these have no dynamic linker at their start, and their threads are cheap.
	go build ${LDFLAGS:+-ldflags "$LDFLAGS"} -tags netgo -o "$build/" ./cmd/banyan/mpiexec ./cmd/banyan/mpicc
	# Each process writes 27,000 addresses into the library's tables when it loads it. Packed, the list of
	# them takes 20 KiB in place of 640. The C library must know this form: glibc does since 2.36.
	local packed= glibc
	glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
	if [ -n "$glibc" ] && printf '%s\n' 'glibc 2.36' "$glibc" | sort -CV && [ "$(go env GOARCH)" = "$(go env GOHOSTARCH)" ] &&
		[[ $(ld --help) == *pack-relative-relocs* ]]; then # grep -q in a pipe would end ld by a signal, sometimes
		packed=,-z,pack-relative-relocs
	fi
	# The profile isn't called default.pgo. By that name go build, go test and go vet ./... would take it
	# too, and compile the runtime twice.
	local checked=()
	if [ -n "${SANITIZE:-}" ]; then
		checked=(CGO_CFLAGS="-g -O1 -fno-omit-frame-pointer -fsanitize=$SANITIZE" CGO_LDFLAGS="-fsanitize=$SANITIZE")
	fi
	env "${checked[@]}" go build -pgo "${PROFILE:-capi/library.pgo}" -buildmode=c-shared -ldflags "${LDFLAGS:-} -extldflags=-Wl,-soname,libmpi_abi.so.1$packed" \
		-o "$build/libmpi_abi.so.1" ./capi
	ln -sf libmpi_abi.so.1 "$build/libmpi_abi.so"
	"$cc" -std=gnu11 -O2 -fPIC -shared -Iabi -Wl,-soname,libmpifort_abi.so.1 -o "$build/libmpifort_abi.so.1" \
		fortran/*.c -L"$build" -lmpi_abi -Wl,-rpath,'$ORIGIN'
	for name in veloc fti; do
		"$cc" -std=gnu11 -O2 -fPIC -shared -Iabi -Wl,-soname,libbanyan-$name.so.1 -o "$build/libbanyan-$name.so.1" \
			checkpoint/kept.c checkpoint/$name.c -L"$build" -lmpi_abi -Wl,-rpath,'$ORIGIN'
	done
	if command -v gfortran >/dev/null; then
		for module in mpi mpi_f08 mpi_ext; do
			gfortran -fsyntax-only -Ifortran -J"$build" "fortran/$module.f90"
		done
	fi
}
[ -n "${BUILT:-}" ] || compile

put "$build/banyan" "$bin"
put "$build/mpiexec" "$bin"
ln -sf mpiexec "$bin/mpirun"
put "$build/libmpi_abi.so.1" "$lib"
ln -sf libmpi_abi.so.1 "$lib/libmpi_abi.so"
for name in veloc fti; do
	put "$build/libbanyan-$name.so.1" "$lib"
	ln -sf libbanyan-$name.so.1 "$lib/libbanyan-$name.so"
	install -D -m 644 -t "$include/banyan" checkpoint/$name.h
done
put "$build/libmpifort_abi.so.1" "$lib"
ln -sf libmpifort_abi.so.1 "$lib/libmpifort_abi.so"
for name in libmpi_abi_fortran.so libmpi_abi_fortran.so.1; do # what it was called until November 2026
	ln -sf libmpifort_abi.so.1 "$lib/$name"
done
install -m 644 abi/*.h fortran/mpif.h fortran/mpif-ext.h fortran/mpi-ext.c "$include"
if [ -f "$modules/mpi.mod" ]; then
	install -m 644 "$modules"/{mpi,mpi_f08,mpi_ext}.mod "$include"
fi

put "$build/mpicc" "$bin"
for name in mpicxx mpic++ mpifort mpif77 mpif90; do
	ln -sf mpicc "$bin/$name"
done

if [ -n "$prefix" ]; then
	mkdir -p "$lib/pkgconfig"
	read -r version _ < <(scripts/version.sh)
	cat >"$lib/pkgconfig/banyan.pc" <<-END
		prefix=$prefix
		Name: Banyan
		Description: MPI programs that outlive the death of processes
		Version: $version
		Cflags: -I\${prefix}/include
		Libs: -L\${prefix}/lib -Wl,-rpath,\${prefix}/lib -lmpi_abi
	END
	for name in veloc fti; do
		cat >"$lib/pkgconfig/banyan-$name.pc" <<-END
			prefix=$prefix
			Name: Banyan, ${name@U}'s interface
			Description: programs that keep checkpoints by ${name@U}'s interface heal and roll back
			Version: $version
			Requires: banyan
			Cflags: -I\${prefix}/include/banyan
			Libs: -lbanyan-$name
		END
	done
fi
