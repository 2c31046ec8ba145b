#!/usr/bin/env bash
# Solves a real system of equations (examples/cg), first undisturbed, then with two replicas of every
# rank while processes of two different ranks are killed. Then it kills a replica, waits until a
# replacement fills its slot, and kills the replica that gave the replacement its state. The answers
# must be the same, to the byte.
set -euo pipefail
cd "$(dirname "$0")/.."

out=bin/demo
program=(bin/cg -solves 20 -every 100 examples/cg/data/bcsstk16.mtx.gz)
faults='kill rank=1 replica=0 at=700ms; kill rank=2 replica=1 at=send:5000'
healing='kill rank=1 replica=0 at=send:3000; kill rank=1 replica=1 at=send:15000'
mkdir -p "$out"

# run NAME BANYAN-FLAGS… keeps the output in $out/NAME and sets seconds.
run() {
	local name=$1 begin=$EPOCHREALTIME
	shift
	printf '$ bin/banyan run'
	for word in "$@" "${program[@]}"; do
		case $word in
		*' '*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	echo
	bin/banyan run "$@" "${program[@]}" >"$out/$name" || {
		echo "exit code $?; the output is in $out/$name" >&2
		exit 1
	}
	seconds=$(awk "BEGIN {printf \"%.2f\", $EPOCHREALTIME - $begin}")
}

run undisturbed -n 4
alone=$seconds
sed -n '1,3p; $p' "$out/undisturbed"
echo

run replicated -n 4 --replicas 2
replicated=$seconds
echo

run killed -n 4 --replicas 2 --report "$out/report.json" --fault "$faults"
killed=$seconds
sed -n '1,3p; $p' "$out/killed"
echo

run healed -n 4 --replicas 2 --heal --report "$out/healed.json" --fault "$healing"
sed -n '1,3p; $p' "$out/healed"
echo

for name in replicated killed healed; do
	cmp "$out/undisturbed" "$out/$name"
done
deaths=$(grep -c '"cause"' "$out/report.json")
heals=$(awk '/"took_s"/ { n++ } /"error"/ { n-- } END { print n + 0 }' "$out/healed.json")
[ "$(grep -c '"cause"' "$out/healed.json")" = 2 ] && [ "$heals" -ge 1 ] || {
	echo "rank 1 wasn't killed, healed, and killed again: see $out/healed.json" >&2
	exit 1
}
lines=$(wc -l <"$out/undisturbed")
echo "The same $lines lines, byte by byte: undisturbed, replicated, with $deaths processes killed, and with both first replicas"
echo "of a rank killed, one after the other, and $heals new ones in their places."
awk -v alone="$alone" -v replicated="$replicated" -v killed="$killed" -v cores="$(nproc)" 'BEGIN {
	printf "  %-34s %6.2f s\n", "4 processes, undisturbed", alone
	printf "  %-34s %6.2f s  %+.2f s: what replication costs on %d cores\n", "8 processes, every rank twice", replicated, replicated - alone, cores
	printf "  %-34s %6.2f s  %+.2f s: what the deaths cost, and fewer processes save\n", "8 processes, two of them killed", killed, killed - replicated
}'
