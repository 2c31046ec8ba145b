#!/usr/bin/env bash
# Makes a package for Debian of what scripts/dist.sh has built (BUILT, for ARCH and TRIPLET), with
# VERSION, in the directory STAGE, into OUT.
#
#   scripts/deb.sh STAGE OUT
#
# All is below /usr/lib/banyan, where it disturbs no other MPI. In /usr/bin are banyan, and the others
# by names that end in .banyan; mpicc, mpiexec and so on are Debian's alternatives, of lower priority
# than Open MPI and MPICH.
set -euo pipefail
cd "$(dirname "$0")/.."

stage=$1 out=$2
home=/usr/lib/banyan
BUILT=$BUILT DESTDIR=$stage scripts/install.sh install $home
usr=$stage/usr share=$stage$home/share
rm "$share/banyan/installed"

mkdir -p "$usr/bin" "$usr/share/man" "$usr/share/zsh/vendor-completions" "$usr/lib/$TRIPLET/pkgconfig" "$usr/lib/$TRIPLET/cmake" "$usr/share/modules"
ln -s ../lib/banyan/bin/banyan "$usr/bin/banyan"
for name in mpiexec mpirun mpicc mpicxx mpic++ mpifort mpif77 mpif90; do
	ln -s "../lib/banyan/bin/$name" "$usr/bin/$name.banyan"
	mv "$share/man/man1/$name.1" "$share/man/man1/$name.banyan.1"
done
sed -i 's,man1/mpicc\.1,man1/mpicc.banyan.1,' "$share"/man/man1/mpi*.1
gzip -9n "$share"/man/man1/*.1
mv "$share/man/man1" "$usr/share/man/"
mv "$share/bash-completion" "$share/fish" "$share/doc" "$usr/share/"
mv "$share/zsh/site-functions/_banyan" "$usr/share/zsh/vendor-completions/"
mv "$share/modulefiles" "$usr/share/modules/"
mv "$usr/share/doc/banyan/LICENSE" "$usr/share/doc/banyan/copyright"
gzip -9n "$usr/share/doc/banyan/CHANGELOG.md"
for name in banyan banyan-veloc banyan-fti; do
	ln -s "../../banyan/lib/pkgconfig/$name.pc" "$usr/lib/$TRIPLET/pkgconfig/$name.pc"
done
ln -s "../../banyan/lib/cmake/Banyan" "$usr/lib/$TRIPLET/cmake/Banyan"
rmdir "$share/zsh/site-functions" "$share/zsh" "$share/man"
# There the file isn't below the prefix.
sed -i "s,^set prefix.*,set prefix $home," "$usr"/share/modules/modulefiles/banyan/*

mkdir "$stage/DEBIAN"
size=$(find "$stage" -type f -printf '%s\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }')
sed -e "s/@VERSION@/$VERSION/; s/@ARCH@/$ARCH/; s/@SIZE@/$size/" deploy/package/control >"$stage/DEBIAN/control"
for script in postinst prerm; do
	sed "s/@TRIPLET@/$TRIPLET/" deploy/package/$script >"$stage/DEBIAN/$script"
	chmod 755 "$stage/DEBIAN/$script"
done
echo "activate-noawait ldconfig" >"$stage/DEBIAN/triggers"
(cd "$stage" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
chmod -R go=rX,u+w "$stage"
# One thread: the compressor's blocks depend on their number.
dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$stage" "$out/banyan_${VERSION}_$ARCH.deb" >/dev/null
echo "$out/banyan_${VERSION}_$ARCH.deb"
