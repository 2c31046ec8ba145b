package incremental

import (
	"cmp"
	"slices"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// faultFree is the broadcast along the tree when no process is dead.
type faultFree struct {
	// A subtree is one run of preorder: size[p] processes from index[p] on.
	preorder, index, size []int32
	latest                []arrival // all processes, those coloured last first
}

type arrival struct {
	process int32
	at      proto.Time // when the process is coloured
}

// visit is a process on the way from the root, and when it sends next.
type visit struct {
	process  int32
	children topology.Cursor
	sendAt   proto.Time
}

// walk goes through the tree. No process waits for another branch: each receives one message, and
// then sends to its children.
func (f *faultFree) walk(t *topology.Tree, latency, overhead proto.Time) {
	procs := t.Procs()
	f.preorder, f.index, f.size = make([]int32, 0, procs), make([]int32, procs), make([]int32, procs)
	f.latest = make([]arrival, 0, procs)
	path := []visit{}
	enter := func(p int32, at proto.Time) {
		f.index[p] = int32(len(f.preorder))
		f.preorder = append(f.preorder, p)
		f.latest = append(f.latest, arrival{p, at})
		path = append(path, visit{p, t.Children(int(p)), at})
	}
	for enter(0, 0); len(path) > 0; {
		v := &path[len(path)-1]
		child, ok := t.Next(&v.children)
		if !ok {
			f.size[v.process] = int32(len(f.preorder)) - f.index[v.process]
			path = path[:len(path)-1]
			continue
		}
		coloured := v.sendAt + 2*overhead + latency
		v.sendAt += overhead
		enter(int32(child), coloured)
	}
	slices.SortFunc(f.latest, func(a, b arrival) int { return cmp.Compare(b.at, a.at) })
}

// subtree is a process and all below it.
func (f *faultFree) subtree(p int32) []int32 {
	return f.preorder[f.index[p]:][:f.size[p]]
}
