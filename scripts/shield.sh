#!/usr/bin/env bash
# Keeps Hydra from ending a job because one of its processes was killed:
#
#   mpiexec.hydra -disable-auto-cleanup -n 6 scripts/shield.sh ./program ARGUMENTS
#
# Even with -disable-auto-cleanup, Hydra's proxy (4.0) kills all processes of its host when one ends by
# a signal, and sends SIGUSR1 to all when one ends without PMI's finalize. So the program is a child of
# this script, which sends PMI's finalize for it. A program that was killed counts as one that ended
# with 0: the exit codes of the others tell what became of the job.
trap '' USR1
"$@"
code=$?
if [ "$code" -gt 128 ]; then
	trap '' PIPE # the program may have sent finalize itself
	echo cmd=finalize >&"$PMI_FD"
	while read -r -t 1 line <&"$PMI_FD" && [[ $line != cmd=finalize_ack* ]]; do :; done
	code=0
fi 2>/dev/null
exit "$code"
