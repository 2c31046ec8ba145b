package thinning

import (
	"slices"

	"banyan/internal/proto"
)

// Claim is that a process which stays can't go on without a message of a rank: of Debt, which is
// the rank's, or, if the Number of that is 0, that the rank takes one.
type Claim struct {
	Rank proto.Rank `json:"r"`
	Debt
}

// claimsMost is how many claims of a process are told it at once, at most. The others follow when
// it has sent those.
const claimsMost = 512

// claims is what processes claim of each other. A process that owes has to go the way that its
// sibling has gone, and so have those for which it waits, and those for which they wait. What they
// owe shows in nothing that a process has, since who had it is dead. So it is claimed, for as long
// as the process that owes waits.
type claims struct {
	waits [][]Claim // by process: for what it waits
	now   [][]Debt  // by process: what it was told
	told  []uint64  // by process: how often
	heard []uint64  // by process: how often it had been told when it said that it has settled
}

func newClaims(procs int) claims {
	return claims{make([][]Claim, procs), make([][]Debt, procs), make([]uint64, procs), make([]uint64, procs)}
}

// forget forgets a process that is dead.
func (c *claims) forget(p proto.Proc) {
	c.waits[p], c.now[p] = nil, nil
}

// open tells whether a process that lives has yet to answer what it was told.
func (c *claims) open(live []bool) bool {
	for p, l := range live {
		if l && c.heard[p] != c.told[p] {
			return true
		}
	}
	return false
}

// follow finds what is claimed of each process: by those that owe, and on from there. It tells
// those for which that has changed. stays is the live process of a rank, or NoProc.
func (c *claims) follow(owe []bool, stays func(proto.Rank) proto.Proc, tell func(proto.Proc, []Debt)) {
	claimed := make([][]Debt, len(owe))
	reached := slices.Clone(owe)
	var next []proto.Proc
	for p, o := range owe {
		if o {
			next = append(next, proto.Proc(p))
		}
	}
	for ; len(next) > 0; next = next[1:] {
		for _, x := range c.waits[next[0]] {
			p := stays(x.Rank)
			if p == proto.NoProc {
				continue
			}
			if len(claimed[p]) < claimsMost {
				claimed[p] = append(claimed[p], x.Debt)
			}
			if !reached[p] {
				reached[p] = true
				next = append(next, p)
			}
		}
	}
	for p, debts := range claimed {
		if !slices.Equal(debts, c.now[p]) {
			c.now[p] = debts
			c.told[p]++
			tell(proto.Proc(p), debts)
		}
	}
}
