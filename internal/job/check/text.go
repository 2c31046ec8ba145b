package check

import (
	"fmt"
	"strings"

	"banyan/internal/job/env"
)

// worldContext is the communicator of all ranks (package comm).
const worldContext = 2

// String describes a call to a programmer.
func (e Event) String() string {
	var s string
	switch e.Kind {
	case End:
		return "makes no further call: its program has ended"
	case Receive:
		s = fmt.Sprintf("a message from rank %d, tag %d", e.Peer, e.Tag)
		if e.Op != "" {
			s += ", told by " + e.Op
		}
	case Collective:
		s = e.Op
		if e.Peer >= 0 {
			s += fmt.Sprintf(" with root %d", e.Peer)
		}
		s += ", " + inBytes(e.Bytes)
	default:
		s = fmt.Sprintf("%s to rank %d, tag %d, %s", e.Op, e.Peer, e.Tag, inBytes(e.Bytes))
	}
	if e.Context != worldContext {
		s += fmt.Sprintf(", in a communicator other than MPI_COMM_WORLD (%04x)", e.Context&0xffff)
	}
	if e.Where != "" {
		s += ", at " + e.Where
	}
	return s
}

func inBytes(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// wildcard names the wildcards of a receive.
func (e Event) wildcard() string {
	switch {
	case e.AnySource && e.AnyTag:
		return "any source, any tag"
	case e.AnySource:
		return "any source"
	case e.AnyTag:
		return "any tag"
	}
	return ""
}

// undecided tells whether each replica goes by its own timing.
func undecided(order string) bool { return order == "" || order == env.OrderFree }

// lookFor is what may make replicas differ that have received the same.
func lookFor(order string) string {
	switch {
	case undecided(order):
		return "  Look for a clock, a random seed, a process id, an address, the order of a map, a file, or what Test and Iprobe said;\n" +
			"  of these, --order leader makes MPI_Wtime, Test and Iprobe the same at all replicas"
	case order == env.OrderClocks:
		return "  Look for memory that the program hasn't set, an address, the order of a map, a file, or a clock that a library reads by itself"
	}
	return "  Look for memory that the program hasn't set, a clock, a random seed, a process id, an address, the order of a map, or a file;\n" +
		"  of these, --order leader,clock makes clocks, seeds and process ids the same at all replicas"
}

// String describes a difference in several lines, without a line end after the last.
func (d *Difference) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "rank %d: its replicas %d and %d differ in call %d of those that send, in the %s\n",
		d.Rank, d.Replicas[0], d.Replicas[1], d.Number, strings.Join(d.Differs, ", the "))
	for i, e := range d.Calls {
		fmt.Fprintf(&s, "  replica %d: %v\n", d.Replicas[i], e)
	}
	if d.Cause == nil {
		switch d.Before {
		case 0:
			s.WriteString("  not because of a receive: there was none before the call.\n")
		case 1:
			s.WriteString("  not because of a receive: the only one before the call brought a message of the same source and tag.\n")
		default:
			fmt.Fprintf(&s, "  not because of a receive: the %d before the call brought messages of the same sources and tags, in the same order.\n", d.Before)
		}
		s.WriteString(lookFor(d.order))
		return s.String()
	}
	a, b := d.Cause.Receives[0], d.Cause.Receives[1]
	how := a.wildcard()
	if how == "" {
		how = b.wildcard()
	}
	if how == "" {
		how = "no wildcard: the program chose, by a probe, by which request was done first, or by an earlier message"
	}
	fmt.Fprintf(&s, "  most likely because of receive %d (%s)\n", d.Cause.Number, how)
	for i, e := range d.Cause.Receives {
		fmt.Fprintf(&s, "    replica %d got %v\n", d.Replicas[i], e)
	}
	if d.Before == 1 {
		s.WriteString("  no other receive came before the call")
	} else {
		fmt.Fprintf(&s, "  %d of the %d receives before the call brought different messages; that was the last", d.Differed, d.Before)
	}
	if undecided(d.order) {
		s.WriteString("\n  run it with --order leader as it is, or mend it: with that one replica of each rank decides what timing decides")
	}
	if d.Differs[0] == "function" || d.Differs[0] == "number of calls" {
		s.WriteString("\n  or because of how often Test or Iprobe found nothing, a clock, or the like: one replica makes a call that the other doesn't")
	}
	return s.String()
}
