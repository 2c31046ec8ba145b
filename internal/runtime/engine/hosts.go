package engine

import (
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// Layout says which process is which replica of which rank.
func (e *Engine) Layout() layout.Layout { return e.cfg.Process.Layout }

// SharesMemory tells whether the ranks are on one host and can read each other's memory, by what
// the launcher said. So the answer is the same at all processes.
func (e *Engine) SharesMemory(ranks []proto.Rank) bool {
	return e.cfg.Process.SharedMemory && e.sameHost(ranks)
}

func (e *Engine) sameHost(ranks []proto.Rank) bool {
	hosts, l := e.cfg.Process.Hosts, e.cfg.Process.Layout
	if len(hosts) != l.Procs() {
		return false
	}
	for _, r := range ranks {
		if hosts[l.Proc(r, 0)] != hosts[l.Proc(ranks[0], 0)] {
			return false
		}
	}
	return true
}

// NamesTree tells whether the job's user has named the tree and the correction of all broadcasts.
func (e *Engine) NamesTree() bool { return e.cfg.Process.Scheme.Named() }

// Oversubscribed tells whether the ranks are on one host that has more processes than cores. It
// uses only what all of them were told, so the answer is the same at all of them, even if one of
// them does without shared memory.
func (e *Engine) Oversubscribed(ranks []proto.Rank) bool {
	return e.cfg.oversubscribed() && e.cfg.Agreed && e.sameHost(ranks)
}
