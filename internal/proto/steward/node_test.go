package steward

import (
	"fmt"

	"banyan/internal/proto"
)

// node is a party with its kernel: what its processes may do depends on the kernel's clock alone.
type node struct {
	host     Host
	agent    *Agent // nil: a witness
	witness  *Witness
	copy     *FileWitness // of a witness that is files
	offset   proto.Time
	rate     proto.Time // in millionths
	dead     bool
	stopped  proto.Time // the agent acts on nothing before
	held     []*Message // that came meanwhile
	wakesAt  proto.Time // real
	deadline proto.Time // of the processes, by the clock
	procs    []Place
	lastTerm uint64 // of a command that was obeyed
}

func (n *node) clock(now proto.Time) proto.Time { return n.offset + now + now*n.rate/million }

// real is when a clock shows a time, or a little later.
func (n *node) real(at proto.Time) proto.Time {
	if at >= maxSpan {
		return proto.Never
	}
	return (at-n.offset)*million/(million+n.rate) + 1
}

// acts says whether a process of the node may still act.
func (n *node) acts(now proto.Time) bool { return !n.dead && n.clock(now) < n.deadline }

// fault is one that is in force from at until until. Deaths and hints happen at at.
type fault struct {
	kind      faultKind
	at, until proto.Time
	host      Host
	side      uint64 // of a cut: hosts by bit; messages to the others are lost
	against   uint64 // if not 0: only those to these
}

type faultKind uint8

const (
	kill   faultKind = iota // the host dies
	stop                    // its agent is stopped
	cut                     // nothing goes between side and the others
	oneWay                  // nothing goes from side to the others
	lossy                   // messages of the host are lost, every other one by chance
	closed                  // all others see the host's connections close
)

var faultNames = [...]string{"kill", "stop", "cut", "one way", "lossy", "closed"}

func (f fault) String() string {
	return fmt.Sprintf("%s of %d (%b) from %d to %d", faultNames[f.kind], f.host, f.side, f.at, f.until)
}

func (w *world) lost(from, to Host) bool {
	for _, f := range w.faults {
		if w.now < f.at || w.now >= f.until {
			continue
		}
		against := f.against
		if against == 0 {
			against = ^f.side
		}
		out, in := (f.side>>from)&(against>>to)&1 == 1, (against>>from)&(f.side>>to)&1 == 1
		if f.kind == cut && (out || in) || f.kind == oneWay && out {
			return true
		}
	}
	for _, f := range w.faults {
		if f.kind == lossy && w.now >= f.at && w.now < f.until && (f.host == from || f.host == to) && w.random.IntN(2) == 0 {
			return true
		}
	}
	return false
}

type event struct {
	at      proto.Time
	serial  int
	to      *node
	message *Message // nil: a timer, or a fault
	fault   *fault
	call    *fileCall // of the file system
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].serial < q[j].serial
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
