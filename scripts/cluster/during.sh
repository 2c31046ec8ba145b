#!/usr/bin/env bash
# Runs a command on the console, and a fault in the middle: during.sh PROJECT DIR AFTER CMD FAULT.
# scripts/cluster.sh calls it and describes it.
set -euo pipefail
root=$1 dir=$2 after=$3 command=$4 fault=$5

# What a shell starts in the background would ignore an interrupt.
env --default-signal=INT,QUIT bash -c "$command" <&0 &
CMD=$!
trap 'kill -TERM $CMD 2>/dev/null || true' INT TERM HUP
export CMD
sleep "$after" &
wait -n || true
problem=
if ! kill -0 $CMD 2>/dev/null; then
	problem="the command ended before the fault, which was to come after $after"
elif ! bash "$root/scripts/cluster/faults.sh" "$root" "$dir" "$fault" </dev/null >&2; then
	problem="the fault failed: $fault"
fi
code=0
wait $CMD || code=$?
if [ -n "$problem" ]; then
	echo "cluster: $problem" >&2
	exit 125
fi
exit $code
