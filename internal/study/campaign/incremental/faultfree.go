package incremental

import (
	"banyan/internal/proto"
	"banyan/internal/topology"
)

// faultFree is the broadcast along the tree when no process is dead.
type faultFree struct {
	at   []proto.Time // when each process is coloured
	end  proto.Time   // when the last of them is
	last []int32      // those that are coloured then

	tree topology.Tree
	// A subtree is one run of preorder: size[p] processes from index[p] on. These are made when the
	// first process is dead.
	preorder, index, size []int32
}

// walk goes through the tree. No process waits for another branch: each receives one message, and
// then sends to its children, whose numbers are higher than its own.
func (f *faultFree) walk(t topology.Tree, latency, overhead proto.Time) {
	f.tree = t
	f.at = make([]proto.Time, t.Procs())
	for p, at := range f.at {
		coloured := at + 2*overhead + latency
		children := t.Children(p)
		for child, ok := t.Next(&children); ok; child, ok = t.Next(&children) {
			f.at[child] = coloured
			coloured += overhead
		}
		if at > f.end {
			f.end, f.last = at, f.last[:0]
		}
		if at == f.end {
			f.last = append(f.last, int32(p))
		}
	}
}

// subtree is a process and all below it.
func (f *faultFree) subtree(p int32) []int32 {
	if f.size == nil {
		f.arrange()
	}
	return f.preorder[f.index[p]:][:f.size[p]]
}

func (f *faultFree) arrange() {
	procs := len(f.at)
	f.preorder, f.index, f.size = make([]int32, procs), make([]int32, procs), make([]int32, procs)
	for p := procs - 1; p >= 0; p-- { // children come after their parents
		f.size[p]++
		if p > 0 {
			f.size[f.tree.Parent(p)] += f.size[p]
		}
	}
	next := make([]int32, procs) // where the next child of each process goes
	for p := range procs {
		if p > 0 {
			parent := f.tree.Parent(p)
			f.index[p] = next[parent]
			next[parent] += f.size[p]
		}
		f.preorder[f.index[p]] = int32(p)
		next[p] = f.index[p] + 1
	}
}
