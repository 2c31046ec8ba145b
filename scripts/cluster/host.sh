#!/usr/bin/env bash
# The first process of a host: host.sh DIR hK, in namespaces that unshare has just made. On the
# console it is host.sh DIR c. When it ends, the kernel ends all processes of the host.
set -euo pipefail
dir=$1 name=$2
me=$dir/hosts/$name
root=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin

rm -f "$me/ready"
read -r pid _ </proc/self/stat # as the namespace sees it that this host was started in
echo "$pid" >"$me/pid.new"
mv "$me/pid.new" "$me/pid"

if [ "$name" = c ]; then
	echo console >/proc/sys/kernel/hostname
else
	echo "$name" >/proc/sys/kernel/hostname
	# /proc is still that of the console, whose first process is 1. For the kernel's own calls 1 is
	# this process.
	k=${name#h}
	nsenter --net=/proc/1/ns/net ip link add "v$k" type veth \
		peer name eth0 address "02:00:00:4e:00:$(printf %02x "$k")" netns 1
	nsenter --net=/proc/1/ns/net ip link set "v$k" master br0 up
fi

mount -t proc proc /proc
cat /proc/sys/kernel/random/uuid >"$me/boot_id"
mount --bind "$me/boot_id" /proc/sys/kernel/random/boot_id
mount --bind "$dir/etc/hosts" /etc/hosts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm

# Firewalls and cuts would have to look after a second family of addresses.
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 || true
ip link set lo up

# mine hides a directory behind an empty one of this host. What the project and the cluster have in
# it stays in sight.
mine() { # directory mode
	local path fd
	local -a keep=()
	for path in "$root" "$dir"; do
		if [[ $path == "$1"/* ]]; then
			exec {fd}<"$path"
			keep+=("$fd" "$path")
		fi
	done
	mount -t tmpfs -o mode="$2" tmpfs "$1"
	set -- "${keep[@]}"
	while [ $# -gt 0 ]; do
		mkdir -p "$2"
		mount --no-canonicalize --rbind "/proc/self/fd/$1" "$2"
		fd=$1
		exec {fd}<&-
		shift 2
	done
}

if [ "$name" = c ]; then
	ip link add br0 type bridge
	ip addr add 10.78.0.254/24 dev br0
	ip link set br0 up
else
	ip addr add "10.78.0.$((k + 1))/24" dev eth0
	ip link set eth0 up
	mine /tmp 1777
	mine /run 755
	# What this machine's root has sshd's shell do would slow down each command.
	[ ! -e ~/.bashrc ] || mount --bind /dev/null ~/.bashrc
fi
mount -t tmpfs -o mode=755 tmpfs "$dir/local"
# Sockets of jobs come and go in banyan; the folder is the user's, and stays.
mkdir -m 700 "$dir/local/run" "$dir/local/run/banyan"
cd /

# await tries a command for at most 20 s.
await() {
	local tries=400
	until "$@" 2>/dev/null; do
		[ $((tries -= 1)) -gt 0 ] || {
			echo "$name: in vain: $*"
			exit 1
		}
		sleep 0.05
	done
}

if [ "$name" != c ]; then
	mkdir -p /run/sshd
	/usr/sbin/sshd -D -e -f "$dir/ssh/sshd_config" 2>>"$dir/log/sshd-$name" &
fi
if [ -e "$dir/slurm" ]; then
	export SLURM_CONF=$dir/slurm/slurm.conf
	munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/local/munge.socket" \
		--pid-file="$dir/local/munge.pid" --log-file="$dir/log/munge-$name" --seed-file="$dir/local/munge.seed" &
	await test -S "$dir/local/munge.socket"
	daemon=(slurmd -D)
	[ "$name" != c ] || daemon=(slurmctld -D -i)
	"${daemon[@]}" >/dev/null 2>&1 &
fi
[ "$name" = c ] || await grep -q ': [0-9A-F]*:0016 [0-9A-F]*:0000 0A' /proc/net/tcp # sshd listens
: >"$me/ready"

# This shell takes in processes that lost their parents.
while :; do
	sleep infinity &
	wait $! || true
done
