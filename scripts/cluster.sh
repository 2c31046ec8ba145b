#!/usr/bin/env bash
# Several hosts on this machine, with real sshd and, if asked for, real Slurm. Help: scripts/cluster.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
parts=$root/scripts/cluster
dir=/run/banyan-cluster${CLUSTER:+-$CLUSTER} # all that the cluster has on disk
autogroup=/proc/sys/kernel/sched_autogroup_enabled
autogrouped=/run/banyan-autogroup # there while a cluster has switched that off

usage() {
	cat <<'END'
Several hosts on this machine: each is some Linux namespaces (network, processes, mounts, name) with
a real sshd and, if asked for, Slurm. It needs root, and some packages of Debian.

  scripts/cluster.sh install            install those packages (their daemons aren't started)
  scripts/cluster.sh up N [--slurm]     make hosts h0 … h(N-1), and a console, from which jobs start;
     [--with PID]                       when the process PID ends, the cluster is removed
  scripts/cluster.sh run CMD ARGS…      run a command on the console; there "ssh h1" and srun work
  scripts/cluster.sh on K CMD ARGS…     run a command on host K (a number, or c for the console)
  scripts/cluster.sh during CMD FAULT [--after 2s]
                                        run CMD on the console, and FAULT there in the middle; both
                                        are shell commands; the exit code is that of CMD, or 125 if
                                        it ended before FAULT, or FAULT failed
  scripts/cluster.sh fault FAULT        run FAULT alone
  scripts/cluster.sh heal               mend all that faults broke, and end what jobs left
  scripts/cluster.sh left               print processes and files that jobs left; exit 1 if any
  scripts/cluster.sh ssh-config         the path of a configuration, for ssh -F on the console
  scripts/cluster.sh status             which cluster is up
  scripts/cluster.sh down               remove the cluster and everything that runs on it

A FAULT may use these words, where K is the number of a host, or several: 0,2 (c is the console). On
the console, vK is the link of host K.

  unplug K  take its link down           plug K     take it up again
  drop K L  packets between K and L are lost; drop-from K L: only those from K to L
  reject K L  a firewall answers TCP between K and L by a reset
  open      remove the firewalls of drop and reject
  power K   cut its power: link down, then all of its processes are gone
  boot K    boot it after a power cut
  freeze K  stop all of its processes    thaw K     let them go on
  kill-slurmd K                          node-down K     tell Slurm that the node is down
  on K CMD  run a command on host K      $CMD      the process number of CMD

The cluster has an ssh key pair and host keys of its own, and touches nothing in ~/.ssh. It lives
in /run/banyan-cluster. With CLUSTER=NAME in the environment it is another one, beside others, in
/run/banyan-cluster-NAME.

Examples:

  scripts/cluster.sh up 4 --slurm
  scripts/cluster.sh run ssh h2 hostname
  scripts/cluster.sh run srun -N 4 --mpi=pmi2 bin/hello
  scripts/cluster.sh during 'srun -N 4 bin/work' 'power 1'
  scripts/cluster.sh during 'mpiexec.hydra -hosts h0,h1 bin/work' 'freeze 1; sleep 5; thaw 1' --after 1s
  scripts/cluster.sh fault 'reject 0,1 2,3'
  scripts/cluster.sh heal
  scripts/cluster.sh down
END
}

fail() {
	printf 'cluster: %s\n' "$*" >&2
	exit 1
}

# packages prints each package that the cluster needs, with a command of it.
packages() {
	cat <<-'END'
		iproute2 ip
		nftables nft
		iptables iptables
		util-linux unshare
		util-linux nsenter
		util-linux setpriv
		openssh-client ssh
		openssh-server sshd
	END
	[ "$1" != all ] || cat <<-'END'
		munge munged
		slurmctld slurmctld
		slurmd slurmd
		slurm-client srun
	END
}

# missing prints the packages that aren't installed.
missing() {
	packages "$1" | while read -r package command; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$command" >/dev/null || echo "$package"
	done | sort -u
}

install() {
	local -a need
	mapfile -t need < <(missing all)
	[ ${#need[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		fail "install these packages, or run this as root on Debian: ${need[*]}"
	fi
	echo "installing ${need[*]}" >&2
	# Debian's packages start their daemons, which this machine doesn't need, unless a policy says no.
	local policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT
	fi
	{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${need[@]}"; } >&2
	mapfile -t need < <(missing all)
	[ ${#need[@]} = 0 ] || fail "still missing: ${need[*]}"
}

# console prints the process number of the console's first process, if the cluster is up.
console() {
	local pid
	read -r pid 2>/dev/null <"$dir/hosts/c/pid" || return 1
	is_console "$pid" && echo "$pid"
}

is_console() {
	local -a words
	mapfile -d '' -t words 2>/dev/null <"/proc/$1/cmdline" || return 1
	local n=${#words[@]}
	[ "$n" -ge 3 ] && [ "${words[n - 3]}" = "$parts/host.sh" ] && [ "${words[n - 2]}" = "$dir" ] && [ "${words[n - 1]}" = c ]
}

# within runs a command on the console. It ends when this process does.
within() {
	if [ "${CLUSTER_CONSOLE:-}" = "$dir" ]; then
		exec "$@"
	fi
	local pid
	[ -e "$dir" ] || fail "no cluster is up: scripts/cluster.sh up 4"
	pid=$(console) || fail "the cluster in $dir is broken: scripts/cluster.sh down removes it"
	local -a extra=()
	[ ! -e "$dir/slurm" ] || extra=(SLURM_CONF="$dir/slurm/slurm.conf")
	exec nsenter -t "$pid" -m -u -i -n -p setpriv --pdeathsig TERM \
		env -C "$PWD" CLUSTER_CONSOLE="$dir" XDG_RUNTIME_DIR="$dir/local/run" PATH="$dir/bin:$root/bin:$PATH:/usr/sbin:/sbin" "${extra[@]}" "$@"
}

up() {
	local n='' slurm='' with=''
	while [ $# -gt 0 ]; do
		case $1 in
		--slurm) slurm=yes ;;
		--with)
			with=${2:-}
			[[ -n $with && -e /proc/$with ]] || fail "--with takes the number of a process, not \"$with\""
			shift
			;;
		[1-9] | [1-9][0-9] | 1[0-9][0-9] | 2[0-4][0-9] | 250) n=$1 ;;
		*) fail "up N [--slurm] [--with PID], with 1 to 250 hosts, not \"$1\"" ;;
		esac
		shift
	done
	[ -n "$n" ] || fail "how many hosts? For example: scripts/cluster.sh up 4"
	[ "$(id -u)" = 0 ] || fail "making hosts needs root"
	local -a need
	mapfile -t need < <(missing "${slurm:+all}")
	[ ${#need[@]} = 0 ] || fail "missing packages: ${need[*]} (scripts/cluster.sh install installs them)"
	if ! mkdir "$dir" 2>/dev/null; then
		console >/dev/null && fail "a cluster of $(cat "$dir/size") hosts is up; scripts/cluster.sh down removes it (CLUSTER=NAME makes another)"
		[ -d "$dir" ] && fail "a cluster in $dir wasn't removed, or isn't up yet: scripts/cluster.sh down removes it"
		fail "can't make $dir"
	fi
	trap 'echo "cluster: not up; the logs end so:" >&2; tail -n 3 "$dir"/log/* >&2 || true; down' EXIT
	trap 'down; exit 130' INT TERM HUP
	chmod 755 "$dir"
	echo "$n" >"$dir/size"
	share_cores
	setpriv --pdeathsig KILL "$parts/files.sh" "$root" "$dir" "$n" "$slurm"
	setsid unshare --fork --mount --uts --ipc --net --pid --kill-child bash "$parts/host.sh" "$dir" c </dev/null >>"$dir/log/console" 2>&1 &
	disown
	await 200 test -e "$dir/hosts/c/ready" || fail "the console doesn't come up"
	if [ -n "$with" ]; then
		setsid "$root/scripts/cluster.sh" watch "$with" "$(console)" </dev/null >/dev/null 2>&1 &
		echo $! >"$dir/watch"
		disown
	fi
	inside fault "boot $(seq -s, 0 $((n - 1)))" || fail "not all hosts come up"
	if [ -n "$slurm" ]; then
		inside fault slurm-ready || fail "Slurm doesn't come up"
	fi
	# shellcheck disable=SC2016 # expanded there
	inside fault 'things c >"$dir/hosts/c/base"'
	trap - EXIT
	echo "h0 … h$((n - 1)) are up${slurm:+, with Slurm}"
}

# watch removes the cluster with this console when a process ends.
watch() {
	while [ -e "/proc/$1" ]; do
		[ "$(console)" = "$2" ] || exit 0
		sleep 0.5
	done
	[ "$(console)" != "$2" ] || down
}

# inside is another run of this script, on the console.
inside() { (within "$root/scripts/cluster.sh" "$@"); }

# await tries a command for so many twentieths of a second.
await() {
	local tries=$1
	shift
	until "$@"; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.05
	done
}

gone() {
	local pid
	for pid in "$@"; do
		[ ! -e "/proc/$pid" ] || return 1
	done
}

removed() { rm -rf --one-file-system "$dir" 2>/dev/null && [ ! -e "$dir" ]; }

down() {
	[ "${CLUSTER_CONSOLE:-}" != "$dir" ] || fail "the console can't remove its own cluster"
	trap - EXIT
	local p
	local -a pids=()
	if p=$(cat "$dir/watch" 2>/dev/null) && [ "$p" != $$ ] && grep -zq cluster.sh "/proc/$p/cmdline" 2>/dev/null; then
		kill "$p" 2>/dev/null || true
	fi
	for p in /proc/[0-9]*; do
		! is_console "${p#/proc/}" || pids+=("${p#/proc/}")
	done
	# With the first process of the console's namespace all processes of all hosts end, and with the
	# last process of a namespace its mounts and links.
	if [ ${#pids[@]} -gt 0 ]; then
		kill -KILL "${pids[@]}" 2>/dev/null || true
		await 400 gone "${pids[@]}" || fail "processes don't end: ${pids[*]}"
	fi
	# An ssh-keygen of an up that was killed may still write.
	await 200 removed || fail "can't remove $dir"
	unshare_cores
}

# share_cores lets processes of different hosts yield the cores that they share to each other. Where
# the kernel groups processes by session, a yield reaches only those of its own session, and each
# ssh is one: ranks that poll then hold a core for a whole time slice, and a step of heat on four
# hosts of two took 8 ms in place of 0.5.
share_cores() {
	[ "$(cat $autogroup 2>/dev/null)" = 1 ] || return 0
	touch "$autogrouped" && echo 0 >$autogroup
}

# unshare_cores undoes that after the last cluster.
unshare_cores() {
	local -a others=(/run/banyan-cluster*)
	[ -e "$autogrouped" ] && [ ! -e "${others[0]}" ] || return 0
	rm -f "$autogrouped" && echo 1 >$autogroup
}

during() {
	local after=2s
	local -a words=()
	while [ $# -gt 0 ]; do
		case $1 in
		--after)
			[ $# -gt 1 ] || fail "--after takes a time, such as 2s"
			after=$2
			shift
			;;
		--after=*) after=${1#*=} ;;
		*) words+=("$1") ;;
		esac
		shift
	done
	[ ${#words[@]} = 2 ] || fail "during CMD FAULT [--after 2s]: two commands, each in quotes"
	[[ $after =~ ^([0-9]*\.)?[0-9]+(ms|s|m)?$ ]] || fail "--after $after isn't a time, such as 2s, 0.5s or 500ms"
	[[ $after != *ms ]] || after=$(printf '%d.%03d' $((${after%ms} / 1000)) $((${after%ms} % 1000)))
	within bash "$parts/during.sh" "$root" "$dir" "$after" "${words[@]}"
}

command=${1:-help}
[ $# = 0 ] || shift
case $command in
install | down)
	[ $# = 0 ] || fail "$command takes no arguments"
	"$command"
	;;
up | during | watch) "$command" "$@" ;;
run)
	[ $# -gt 0 ] || fail "run what? For example: scripts/cluster.sh run ssh h1 hostname"
	within "$@"
	;;
fault)
	[ $# = 1 ] || fail "fault FAULT: one argument, in quotes; for example: scripts/cluster.sh fault 'unplug 1'"
	within bash "$parts/faults.sh" "$root" "$dir" "$1"
	;;
on)
	[ $# -gt 1 ] || fail "on K CMD: for example: scripts/cluster.sh on 1 ps -ef"
	within bash "$parts/faults.sh" "$root" "$dir" "on $(printf '%q ' "$@")"
	;;
heal | left)
	[ $# = 0 ] || fail "$command takes no arguments"
	within bash "$parts/faults.sh" "$root" "$dir" "$command"
	;;
ssh-config)
	[ -e "$dir/ssh/config" ] || fail "no cluster is up: scripts/cluster.sh up 4"
	echo "$dir/ssh/config"
	;;
status)
	console >/dev/null || fail "no cluster is up"
	echo "h0 … h$(($(cat "$dir/size") - 1)) are up$([ ! -e "$dir/slurm" ] || echo ', with Slurm')"
	;;
help | -h | --help) usage ;;
*) fail "there is no command \"$command\"; scripts/cluster.sh help lists them" ;;
esac
