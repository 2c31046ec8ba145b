package launcher

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// ledger records how processes live and end, and judges what that means for their ranks. It is
// pure: it has no clock and no I/O.
type ledger struct {
	layout.Layout
	entries []entry
	survive bool // the program handles the loss of ranks
}

// entry records the process of one replica slot.
type entry struct {
	ready     bool // it has initialised the library
	pid       int  // of the process that initialised it, which may be a child; 0: unknown
	finalized bool // it has said that it leaves
	fenced    bool // the launcher killed it, because it was silent or outvoted
	dismissed bool // fenced because the job goes on with another replica of its rank alone
	retired   bool // fenced because its host is drained
	outvoted  bool // fenced because data that it sends or has received is wrong
	traced    bool // a debugger is attached to it
	silent    time.Duration
	by        proto.Proc // the process that found it silent or wrong; NoProc: the launcher
	end       ending
}

// ending is how a process ended.
type ending struct {
	kind   endKind
	lost   bool           // with its host: how it ended isn't known
	signal syscall.Signal // 0: it exited
	code   int            // if it exited
}

type endKind uint8

const (
	running    endKind = iota
	inOrder            // the process left as it should
	failedLate         // it failed after it had finalised: the others don't need it any more
	diedEarly          // it failed before: its rank must do without it
)

func newLedger(layout layout.Layout) *ledger {
	l := &ledger{Layout: layout, entries: make([]entry, layout.Procs())}
	for i := range l.entries {
		l.entries[i].by = proto.NoProc
	}
	return l
}

// valid says whether the job has such a process.
func (l *ledger) valid(p proto.Proc) bool { return p >= 0 && int(p) < len(l.entries) }

// ended records how a process ended.
func (l *ledger) ended(p proto.Proc, signal syscall.Signal, code int) ending {
	e := &l.entries[p]
	e.end = ending{kind: diedEarly, signal: signal, code: code}
	fine := signal == 0 && code == 0
	switch {
	case fine && (e.finalized || !e.ready):
		e.end.kind = inOrder
	case e.finalized:
		e.end.kind = failedLate
	}
	return e.end
}

// missed records that a process ended with its host.
func (l *ledger) missed(p proto.Proc) ending {
	e := &l.entries[p]
	e.end = ending{kind: diedEarly, lost: true}
	if e.finalized {
		e.end.kind = failedLate
	}
	return e.end
}

// substitute is the replica that stands in for the dead replicas of a rank: the lowest that lives
// or has left in order.
func (l *ledger) substitute(r proto.Rank) (replica int, ok bool) {
	for i := range l.Degree(r) {
		if k := l.entries[l.Proc(r, i)].end.kind; k == running || k == inOrder {
			return i, true
		}
	}
	return 0, false
}

// rankEnd is what the ends of a rank's replicas mean for the rank.
type rankEnd struct {
	over bool // no replica runs, and none left in order
	lost bool // over, and no replica finalised: the other ranks miss the rank
	code int  // if over, the exit code of the rank
}

// rankEnd judges a rank.
func (l *ledger) rankEnd(r proto.Rank) rankEnd {
	if _, ok := l.substitute(r); ok {
		return rankEnd{}
	}
	// Replicas that finalised have done all that the program wanted to do. Their ends count, not
	// those of replicas that died earlier.
	judged := l.endings(r, failedLate)
	lost := len(judged) == 0
	if lost {
		judged = l.endings(r, diedEarly)
	}
	// If a replica ended by itself, the ends of replicas killed from outside don't count.
	if own := slices.DeleteFunc(slices.Clone(judged), ending.killed); len(own) > 0 {
		judged = own
	}
	for _, e := range judged[1:] {
		if e != judged[0] {
			return rankEnd{over: true, lost: lost, code: 1}
		}
	}
	return rankEnd{over: true, lost: lost, code: judged[0].exitCode()}
}

// endings are the ends of this kind among a rank's replicas.
func (l *ledger) endings(r proto.Rank, kind endKind) []ending {
	var all []ending
	for i := range l.Degree(r) {
		if e := l.entries[l.Proc(r, i)].end; e.kind == kind {
			all = append(all, e)
		}
	}
	return all
}

// exitCode is the exit code of a job that ended because all its processes ended.
func (l *ledger) exitCode() int {
	failed, lost := 0, 0
	for r := range proto.Rank(l.Ranks()) {
		end := l.rankEnd(r)
		if failed == 0 && end.over && !end.lost {
			failed = end.code
		}
		if end.lost {
			lost++
		}
	}
	if failed == 0 && lost == l.Ranks() {
		return l.rankEnd(0).code
	}
	return failed
}

// lostRanks are the ranks whose replicas all died.
func (l *ledger) lostRanks() []int {
	lost := []int{}
	for r := range proto.Rank(l.Ranks()) {
		if l.rankEnd(r).lost {
			lost = append(lost, int(r))
		}
	}
	return lost
}

// killed says that the process was killed from outside.
func (e ending) killed() bool { return e.lost || e.signal == syscall.SIGKILL }

// exitCode is the exit code that a shell gives the ending. An exit with 0 that wasn't in order
// counts as failure.
func (e ending) exitCode() int {
	switch {
	case e.signal != 0:
		return 128 + int(e.signal)
	case e.code == 0:
		return 1
	}
	return e.code
}

func (e ending) String() string {
	switch {
	case e.lost:
		return "its host is lost"
	case e.signal != 0:
		return fmt.Sprintf("signal %d (%v)", int(e.signal), e.signal)
	case e.code == 0 && e.kind == diedEarly:
		return "exit 0 without finalising"
	}
	return fmt.Sprintf("exit %d", e.code)
}

// howLost tells how a rank was lost.
func (l *ledger) howLost(r proto.Rank) string {
	ends := l.endings(r, diedEarly)
	texts := make([]string, len(ends))
	alike := true
	for i, e := range ends {
		texts[i] = fmt.Sprintf("replica %d: %v", i, e)
		alike = alike && e == ends[0]
	}
	switch {
	case len(ends) == 1:
		return ends[0].String()
	case alike:
		return fmt.Sprintf("%v of all %d replicas", ends[0], len(ends))
	}
	return strings.Join(texts, ", ")
}
