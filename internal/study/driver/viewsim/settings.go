package viewsim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/study/field"
)

// Protocol is what is simulated.
type Protocol uint8

const (
	Banyan     Protocol = iota // internal/proto/membership
	Paper                      // internal/study/protocol/varma
	PaperLists                 // the same, with lists of deaths
)

func (p Protocol) String() string { return [...]string{"banyan", "paper", "paper-lists"}[p] }

// ParseProtocol reads a protocol's name.
func ParseProtocol(text string) (Protocol, error) {
	for _, p := range []Protocol{Banyan, Paper, PaperLists} {
		if p.String() == text {
			return p, nil
		}
	}
	return 0, fmt.Errorf("unknown protocol %q: want banyan, paper or paper-lists", text)
}

// FaultKind is a kind of change.
type FaultKind uint8

const (
	Node     FaultKind = iota // a process other than the root dies
	Root                      // the root does
	Several                   // some die, the root may be one of them
	Takeover                  // a process dies, and the root while the news of that spreads
	Join                      // a process joins
	Update                    // a process changes what it says of itself
)

var faultNames = [...]string{"node", "root", "several", "takeover", "join", "update"}

// Fault is what happens in each run.
type Fault struct {
	Kind  FaultKind
	Count int // deaths, of Several
}

// ParseFault reads "node", "root", "several:K", "takeover", "join" or "update".
func ParseFault(text string) (Fault, error) {
	name, count, counted := strings.Cut(text, ":")
	for i, n := range faultNames {
		f := Fault{Kind: FaultKind(i)}
		if n != name || counted != (f.Kind == Several) {
			continue
		}
		if counted {
			var err error
			if f.Count, err = strconv.Atoi(count); err != nil || f.Count < 1 {
				return f, fmt.Errorf("%q: want a number of deaths from 1 after the colon", text)
			}
		}
		return f, nil
	}
	return Fault{}, fmt.Errorf("unknown fault %q: want node, root, several:K, takeover, join or update", text)
}

func (f Fault) String() string {
	if f.Kind == Several {
		return fmt.Sprintf("several:%d", f.Count)
	}
	return faultNames[f.Kind]
}

// Deaths returns how many processes die.
func (f Fault) Deaths() int { return [...]int{1, 1, f.Count, 2, 0, 0}[f.Kind] }

// Joining returns how many processes join.
func (f Fault) Joining() int {
	if f.Kind == Join {
		return 1
	}
	return 0
}

// Limits of a simulation.
const (
	MaxNodes      = 1 << 20
	MaxPaperNodes = 1 << 12
	MaxTime       = proto.Time(1) << 40 // of a single setting: 18 minutes in nanoseconds
)

// Settings say what a run is. Times are in steps of any length.
type Settings struct {
	Protocol          Protocol
	Nodes, Arity      int
	Fault             Fault
	Latency, Overhead proto.Time // L and o
	Compute           proto.Time // for a process to compute a new view
	Detection, Spread proto.Time // from a death until all are told of it, at least, and how much later it may be
	Gather            proto.Time // how long a coordinator of Banyan's waits for more deaths
	// Within is the window in which deaths strike, of Several and Takeover; the first strikes at
	// 0. Of Takeover, the window begins when the first death is detected.
	Within proto.Time
	// Hops is how many hops lie between two processes, 1 at least; nil: one, between all. Each
	// hop after the first adds Latency + 2·Overhead, half a round trip between neighbours, to a
	// message's travel.
	Hops func(from, to proto.Proc) int
	// Weigh is how many bytes a message of Banyan's has, as groups send it, and with whole views.
	// Several goroutines may call it. nil: bytes aren't counted.
	Weigh func(to membership.Member, x *membership.Message) (bytes, whole int)
}

// Validate returns a *field.Error for what makes no sense.
func (s *Settings) Validate() error {
	most := MaxNodes
	if s.Protocol != Banyan {
		most = MaxPaperNodes
	}
	switch {
	case s.Nodes < 1 || s.Nodes > most:
		return field.Errorf("nodes", "%d: want 1 to %d with protocol %v", s.Nodes, most, s.Protocol)
	case s.Arity < 2 || s.Arity > MaxNodes || s.Arity&(s.Arity-1) != 0:
		return field.Errorf("arity", "%d: want a power of two from 2 to %d", s.Arity, MaxNodes)
	case s.Gather != 0 && s.Protocol != Banyan:
		return field.Errorf("gather", "the paper's protocol gathers nothing")
	case s.Fault.Kind == Update && s.Protocol != Banyan:
		return field.Errorf("fault", "in the paper's protocol members say nothing of themselves")
	case s.Fault.Deaths() >= s.Nodes:
		return field.Errorf("fault", "%v: of %d nodes at least one must live", s.Fault, s.Nodes)
	}
	for _, x := range []struct {
		name  string
		value proto.Time
		least proto.Time
	}{
		{"latency", s.Latency, 0}, {"overhead", s.Overhead, 1}, {"compute", s.Compute, 0},
		{"detection", s.Detection, 0}, {"spread", s.Spread, 0}, {"gather", s.Gather, 0}, {"within", s.Within, 0},
	} {
		if x.value < x.least || x.value > MaxTime {
			return field.Errorf(x.name, "%d: want %d to %d steps", x.value, x.least, MaxTime)
		}
	}
	return nil
}

// death is one of a run.
type death struct {
	node proto.Proc
	at   proto.Time
}

// deaths draws which processes die, and when.
func (s *Settings) deaths(random *rand.Rand) []death {
	other := func() proto.Proc { return proto.Proc(1 + random.IntN(s.Nodes-1)) }
	moment := func() proto.Time { return proto.Time(random.Int64N(int64(s.Within) + 1)) }
	switch s.Fault.Kind {
	case Node:
		return []death{{other(), 0}}
	case Root:
		return []death{{0, 0}}
	case Takeover:
		return []death{{other(), 0}, {0, s.Detection + moment()}}
	case Several:
		var list []death
		chosen := map[proto.Proc]bool{}
		for len(list) < s.Fault.Count {
			if p := proto.Proc(random.IntN(s.Nodes)); !chosen[p] {
				chosen[p] = true
				at := proto.Time(0)
				if len(list) > 0 {
					at = moment()
				}
				list = append(list, death{p, at})
			}
		}
		return list
	}
	return nil
}
