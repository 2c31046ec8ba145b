package thinning

import (
	"bytes"
	"slices"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Kind says what an Action asks for.
type Kind uint8

// Kinds of actions of a Coordinator. Each is for one process.
const (
	Ask     Kind = iota + 1 // it says how many messages it has of lost ranks (Counted)
	Dismiss                 // it is killed
	Thin                    // it stays, as all of Coordinator.Stay (Member.Thin)
	Show                    // the losses show there, with the Results of all
	Owe                     // others claim Debts of it, and nothing else (Member.Claimed)
)

// Action asks the driver for something.
type Action struct {
	Kind  Kind
	To    proto.Proc
	Debts []Debt // of Owe
}

// Actions is a caller-owned output to which a machine appends.
type Actions []Action

// Result is how an agreement has ended at a member before losses show.
type Result struct {
	Context uint64 `json:"c"`
	Number  uint64 `json:"n"` // among those of the context
	Data    []byte `json:"d,omitempty"`
}

// Parts are results in parts, in their order, each of so many bytes of data at most, and of so many
// results, but for one whose data is larger. There is one part at least.
func Parts(all []Result, bytes, results int) (parts [][]Result) {
	for len(all) > 0 {
		n, size := 1, len(all[0].Data)
		for n < min(len(all), results) && size+len(all[n].Data) <= bytes {
			size += len(all[n].Data)
			n++
		}
		parts = append(parts, all[:n])
		all = all[n:]
	}
	if parts == nil {
		parts = [][]Result{nil}
	}
	return parts
}

type phase uint8

const (
	whole phase = iota
	counting
	dismissing
	settling
	thin
)

// Coordinator leads a job on to one replica of each rank.
type Coordinator struct {
	layout  layout.Layout
	phase   phase
	live    []bool   // by process
	awaited []bool   // by process: an answer; while settling, that it owes nothing
	counts  []uint64 // by process
	stay    []proto.Proc
	results []Result
	claims  claims
}

// NewCoordinator makes the coordinator of a job without losses.
func NewCoordinator(l layout.Layout) *Coordinator {
	n := l.Procs()
	return &Coordinator{layout: l, live: make([]bool, n), awaited: make([]bool, n), counts: make([]uint64, n), claims: newClaims(n)}
}

// Begun tells whether the job goes on, or will, with one replica of each rank.
func (c *Coordinator) Begun() bool { return c.phase != whole }

// Shown tells whether the losses have shown: later ones show at once.
func (c *Coordinator) Shown() bool { return c.phase == thin }

// Stay are the processes that stay, by rank: NoProc of a lost one.
func (c *Coordinator) Stay() []proto.Proc { return c.stay }

// Results are those of all that have settled.
func (c *Coordinator) Results() []Result { return c.results }

// Begin begins, once, with the processes that live.
func (c *Coordinator) Begin(live func(p proto.Proc) bool, out *Actions) {
	if c.phase != whole {
		return
	}
	c.phase = counting
	for p := range proto.Proc(c.layout.Procs()) {
		c.live[p] = live(p)
	}
	c.tell(Ask, out)
	c.step(out)
}

// Gone says that a process is dead, or has left.
func (c *Coordinator) Gone(p proto.Proc, out *Actions) {
	if c.phase == whole || !c.live[p] {
		return
	}
	c.live[p], c.awaited[p] = false, false
	if c.phase == settling {
		c.claims.forget(p)
		c.pass(out)
	}
	if c.stay != nil && c.stay[c.layout.Rank(p)] == p && c.phase < settling {
		c.stay[c.layout.Rank(p)] = proto.NoProc
	}
	c.step(out)
}

// Counted is a process's answer to Ask.
func (c *Coordinator) Counted(p proto.Proc, n uint64, out *Actions) {
	if c.phase == counting && c.awaited[p] {
		c.counts[p], c.awaited[p] = n, false
		c.step(out)
	}
}

// Waits says for which messages of others a process that stays has waited for long, while it owes
// or others claim something of it. They take the place of those that it said before.
func (c *Coordinator) Waits(p proto.Proc, waits []Claim, out *Actions) {
	if c.phase == settling && c.live[p] {
		c.claims.waits[p] = waits
		c.pass(out)
	}
}

// Ended says which agreements have ended at a process that is about to settle.
func (c *Coordinator) Ended(p proto.Proc, results []Result) {
	if c.phase != settling || !c.live[p] {
		return
	}
	for _, r := range results {
		if !slices.ContainsFunc(c.results, func(x Result) bool { return x.Context == r.Context && x.Number == r.Number }) {
			c.results = append(c.results, Result{r.Context, r.Number, bytes.Clone(r.Data)})
		}
	}
}

// Settled says that a process that stays owes nothing of its own, when it had been told so often
// what others claim. It is said again when nobody claims anything any more, each time after which
// agreements have Ended.
func (c *Coordinator) Settled(p proto.Proc, told uint64, out *Actions) {
	if c.phase != settling || !c.live[p] {
		return
	}
	c.awaited[p], c.claims.heard[p] = false, told
	c.pass(out)
	c.step(out)
}

// pass passes on what is claimed, to those for which that has changed.
func (c *Coordinator) pass(out *Actions) {
	c.claims.follow(c.awaited, func(r proto.Rank) proto.Proc {
		if r < 0 || int(r) >= len(c.stay) || c.stay[r] == proto.NoProc || !c.live[c.stay[r]] {
			return proto.NoProc
		}
		return c.stay[r]
	}, func(p proto.Proc, debts []Debt) { *out = append(*out, Action{Kind: Owe, To: p, Debts: debts}) })
}

// step goes on when nothing is awaited.
func (c *Coordinator) step(out *Actions) {
	if slices.Contains(c.awaited, true) {
		return
	}
	switch c.phase {
	case counting:
		c.choose(out)
	case dismissing:
		c.phase = settling
		c.tell(Thin, out)
		c.step(out) // nobody may be left
	case settling:
		if c.claims.open(c.live) {
			return
		}
		c.phase = thin
		c.tell(Show, out)
		clear(c.awaited)
	}
}

// choose chooses who stays, and dismisses the others.
func (c *Coordinator) choose(out *Actions) {
	c.phase = dismissing
	c.stay = slices.Repeat([]proto.Proc{proto.NoProc}, c.layout.Ranks())
	for p := range proto.Proc(c.layout.Procs()) {
		if best := &c.stay[c.layout.Rank(p)]; c.live[p] && (*best == proto.NoProc || c.counts[p] > c.counts[*best]) {
			*best = p
		}
	}
	for p := range proto.Proc(c.layout.Procs()) {
		if c.live[p] && c.stay[c.layout.Rank(p)] != p {
			c.awaited[p] = true
			*out = append(*out, Action{Kind: Dismiss, To: p})
		}
	}
	c.step(out)
}

// tell tells all that live something, and awaits their answers.
func (c *Coordinator) tell(k Kind, out *Actions) {
	for p := range proto.Proc(len(c.live)) {
		if c.live[p] {
			c.awaited[p] = true
			*out = append(*out, Action{Kind: k, To: p})
		}
	}
}
