# Makes a bare Debian in /mnt/root and runs try.sh there. Arguments: the directory of try.sh, the
# directory of packages, the package, the tarball, and the Go tree and the module cache of this machine.
here=$1 dist=$2 package=$3 tarball=$4 goroot=$5 modules=$6
root=/mnt/root

mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"
mkdir -p "$root/dist" "$root/usr/local/go" "$root/proxy" "$root/dev/shm"
mount --bind -o ro "$goroot" "$root/usr/local/go"
mount --bind -o ro "$modules/cache/download" "$root/proxy"
mount -t proc proc "$root/proc"
mountpoint -q "$root/dev/shm" || mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mkdir -p "$root/dev/pts"
cp /etc/resolv.conf "$root/etc/"
cp "$dist/$package" "$root/dist/banyan.deb"
cp "$dist/$tarball" "$root/dist/banyan.tar.gz"
cp "$here/try.sh" "$root/dist/"
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 bash /dist/try.sh
