#!/usr/bin/env bash
# Runs a shell command on the console in which the words of faults are known:
# faults.sh PROJECT DIR FAULT. scripts/cluster.sh calls it and describes them. The words take hosts by
# their numbers, several separated by commas.
set -euo pipefail
root=$1 dir=$2
size=$(cat "$dir/size")

# names prints the names of hosts: "0,2,c" are h0, h2 and c.
names() {
	local k
	for k in ${1//,/ }; do
		case $k in
		c | console) echo c ;;
		*)
			k=${k#h}
			if ! [[ $k =~ ^[0-9]+$ ]] || [ "$k" -ge "$size" ]; then
				echo "cluster: there is no host \"$k\": 0 to $((size - 1)), or c" >&2
				exit 2
			fi
			echo "h$k"
			;;
		esac
	done
}

hosts() { # names without the console
	local all
	all=$(names "$1") || exit
	if [[ " ${all//$'\n'/ } " = *" c "* ]]; then
		echo "cluster: that can't be done to the console" >&2
		exit 2
	fi
	echo "$all"
}

address() { if [ "$1" = c ]; then echo 10.78.0.254; else echo "10.78.0.$((${1#h} + 1))"; fi; }

# first prints the process number of a host's first process, if the host runs.
first() {
	local pid words
	read -r pid 2>/dev/null <"$dir/hosts/$1/pid" || return 1
	words=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") && [[ $words = *"host.sh $dir $1 " ]] && echo "$pid"
}

# in_host runs a command in all namespaces of a host. It ends when this script does.
in_host() {
	local name=$1 pid
	shift
	if [ "$name" = c ]; then
		"$@"
		return
	fi
	pid=$(first "$name") || {
		echo "cluster: $name is off" >&2
		return 1
	}
	setpriv --pdeathsig TERM nsenter -t "$pid" -m -u -i -n -p setpriv --pdeathsig TERM env -C "$PWD" "$@"
}

on() {
	local name all
	all=$(names "$1") || exit
	shift
	for name in $all; do in_host "$name" "$@"; done
}

link() {
	local name all
	all=$(hosts "$1") || exit
	for name in $all; do ip link set "v${name#h}" "$2"; done
}
unplug() { link "$1" down; }
plug() { link "$1" up; }

# rules prints rules of firewalls for what some hosts send to others: where a host's link comes in at
# the console, and in the console's way out.
rules() { # from to verdict…
	local name other some others list chain verdict
	some=$(names "$1") || exit
	others=$(names "$2") || exit
	shift 2
	for name in $some; do
		list=
		for other in $others; do [ "$other" = "$name" ] || list+=${list:+, }$(address "$other"); done
		if [ "$name" = c ]; then
			echo "add table inet cluster"
			chain="inet cluster output"
			echo "add chain $chain { type filter hook output priority 0; }"
		else
			echo "add table netdev cluster"
			chain="netdev cluster v${name#h}"
			echo "add chain $chain { type filter hook ingress device v${name#h} priority 0; }"
		fi
		[ -z "$list" ] || for verdict in "$@"; do
			echo "add rule $chain ip daddr { $list } $verdict"
		done
	done
}
# wall puts up firewalls in both directions, all at once.
wall() { # some others verdict…
	local some=$1 others=$2 text
	shift 2
	text=$(rules "$some" "$others" "$@" && rules "$others" "$some" "$@") || exit
	nft -f - <<<"$text"
}
drop() { wall "$1" "$2" drop; }
reject() { wall "$1" "$2" "meta l4proto tcp reject with tcp reset" reject; }
drop-from() {
	local text
	text=$(rules "$1" "$2" drop) || exit
	nft -f - <<<"$text"
}
open() {
	nft delete table netdev cluster 2>/dev/null || true
	nft delete table inet cluster 2>/dev/null || true
}

everywhere() { seq -s, 0 $((size - 1)); }

# freeze stops all processes but the first, in one call of the kernel. The first sleeps anyway.
freeze() { signal "$1" STOP; }
thaw() { signal "$1" CONT; }
signal() {
	local name all
	all=$(hosts "$1") || exit
	# shellcheck disable=SC2016 # the host's shell expands it
	for name in $all; do in_host "$name" bash -c 'kill -"$0" -1' "$2"; done
}

power() {
	local name all pid
	local -a dying=()
	all=$(hosts "$1") || exit
	for name in $all; do ip link set "v${name#h}" down 2>/dev/null || true; done
	for name in $all; do
		if pid=$(first "$name"); then
			kill -KILL "$pid"
			dying+=("$pid")
		fi
	done
	for pid in "${dying[@]}"; do await 20 gone "$pid"; done
}
gone() { [ ! -e "/proc/$1" ]; }

# await tries a command for at most so many seconds.
await() {
	local tries=$(($1 * 50))
	shift
	until "$@"; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.02
	done
}

boot() {
	local name all pid
	all=$(hosts "$1") || exit
	for name in $all; do
		! first "$name" >/dev/null || continue
		# The kernel keeps the network of the last boot until connections with unsent data time out.
		! ip link show "v${name#h}" >/dev/null 2>&1 || ip link delete "v${name#h}" || true
		rm -f "$dir/hosts/$name/"{ready,base}
		setsid unshare --fork --mount --uts --ipc --net --pid --kill-child \
			bash "$root/scripts/cluster/host.sh" "$dir" "$name" </dev/null >>"$dir/log/$name" 2>&1 &
	done
	for name in $all; do
		await 60 test -e "$dir/hosts/$name/ready" || {
			echo "cluster: $name doesn't come up:" >&2
			tail -n 5 "$dir/log/$name" >&2
			exit 1
		}
		[ -e "$dir/hosts/$name/base" ] || things "$name" >"$dir/hosts/$name/base"
	done
}

kill-slurmd() { on "$1" pkill -KILL -x slurmd; }
node-down() {
	local all
	all=$(hosts "$1") || exit
	scontrol update nodename="${all//$'\n'/,}" state=down reason=fault
}

idle() { [ "$(sinfo -h -N -o %T 2>/dev/null | sort -u)" = idle ]; }
slurm-ready() {
	await 30 idle || {
		sinfo -N >&2
		return 1
	}
}

# things prints a host's processes, and the files where jobs may leave some, one a line. What belongs
# to this script is no such thing.
things() {
	local name=$1 pid ns of number parent words
	if [ "$name" = c ]; then pid=1; else pid=$(first "$name") || return 0; fi
	ns=$(readlink "/proc/$pid/ns/pid")
	local -A own=() # the dead wait for the first process to take them in
	[ "$name" != c ] || own[$$]=yes # hosts were booted by other runs of it
	while read -r of number parent words; do
		if [ -n "${own[$parent]:-}" ]; then
			own[$number]=yes
		elif [ "$ns" = "pid:[$of]" ] && [ -z "${own[$number]:-}" ] && [[ $words != *"/scripts/cluster/"*.sh* && $words != *"<defunct>" ]]; then
			echo "$name process $number $words"
		fi
	done < <(ps -eo pidns=,pid=,ppid=,args= --sort start_time,pid)
	local -a places=("/proc/$pid/root/dev/shm" "/proc/$pid/root$dir/local/run")
	[ "$name" = c ] || places+=("/proc/$pid/root/tmp")
	# The folder for jobs' sockets is the user's, and stays; what is in it doesn't, but for the socket
	# of a launcher that was killed: the next banyan jobs removes it.
	find "${places[@]}" -xdev -mindepth 1 ! \( -name banyan -type d \) ! \( -path '*/banyan/*.sock' -type s \) -printf "$name file %f\n"
}

# left prints what is new since the hosts were booted.
left() {
	local name all=0
	for name in c $(names "$(everywhere)"); do
		new "$name" | grep . && all=1
	done
	return $all
}
new() { comm -13 <(sort "$dir/hosts/$1/base") <(things "$1" | sort); }

# whole says whether a host runs, and all that ran when it was booted, and nothing else.
whole() { [ "$(things "$1" | sort)" = "$(sort "$dir/hosts/$1/base")" ]; }

heal() {
	local name number _
	local -a broken=()
	open
	while read -r _ _ number _; do
		kill -KILL "$number" 2>/dev/null || true
	done < <(new c | grep ' process ')
	rm -f "$dir/local/run/banyan/"* # what is kept of jobs that ended without a console
	[ ! -e "$dir/slurm" ] || squeue -h -o %A | xargs -r scancel -f || true
	for name in $(names "$(everywhere)"); do
		if first "$name" >/dev/null; then
			thaw "$name"
			plug "$name"
		fi
	done
	[ ! -e "$dir/slurm" ] || await 10 no_jobs || true
	for name in $(names "$(everywhere)"); do whole "$name" || broken+=("$name"); done
	if [ ${#broken[@]} -gt 0 ]; then
		power "${broken[*]}"
		boot "${broken[*]}"
	fi
	if [ -e "$dir/slurm" ]; then
		for name in $(sinfo -h -N -o '%N %T' | grep -v ' idle$' | cut -d ' ' -f 1); do
			scontrol update nodename="$name" state=resume 2>/dev/null || true
		done
		slurm-ready
	fi
}
no_jobs() { [ -z "$(squeue -h)" ]; }

eval "$3"
