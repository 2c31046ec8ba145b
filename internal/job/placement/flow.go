package placement

// flow says how many processes of each class run on each host.
//
// It is a flow in a network with these edges: from the source to each class, its processes; from a
// class to each domain, its ranks; from there to each host of the domain on which the class may
// run, any number; from each host to the sink, its capacity.
type flow struct {
	classes []class
	domain  []int    // of each host
	allowed [][]bool // by class and host
	per     int      // how many replicas of a rank may share a domain

	left     []int   // by class: processes that no host has
	room     []int   // by host: processes that it may still get
	on       [][]int // by class and host: processes
	in       [][]int // by class and domain: processes
	byDomain [][]int // the hosts of each domain
}

func newFlow(classes []class, domain []int, allowed [][]bool, capacity []int, per int) *flow {
	f := &flow{classes: classes, domain: domain, allowed: allowed, per: per, room: append([]int(nil), capacity...)}
	for h, d := range domain {
		for len(f.byDomain) <= d {
			f.byDomain = append(f.byDomain, nil)
		}
		f.byDomain[d] = append(f.byDomain[d], h)
	}
	for c := range classes {
		f.left = append(f.left, classes[c].processes())
		f.on = append(f.on, make([]int, len(domain)))
		f.in = append(f.in, make([]int, len(f.byDomain)))
	}
	return f
}

// most is how many processes of a class a domain may have.
func (f *flow) most(c int) int { return f.per * len(f.classes[c].ranks) }

// solve finds the largest flow, and says whether all processes have a host.
func (f *flow) solve() bool {
	f.greedy()
	for c := range f.classes {
		for f.left[c] > 0 && f.augment(c) {
		}
	}
	for _, n := range f.left {
		if n > 0 {
			return false
		}
	}
	return true
}

// greedy fills host after host, domain by domain. It is what is wanted where it works.
func (f *flow) greedy() {
	for c := range f.classes {
		for d, hosts := range f.byDomain {
			for _, h := range hosts {
				if f.allowed[c][h] {
					f.put(c, h, min(f.left[c], f.most(c)-f.in[c][d], f.room[h]))
				}
			}
		}
	}
}

// put puts n more processes of a class on a host.
func (f *flow) put(c, h, n int) {
	f.left[c] -= n
	f.room[h] -= n
	f.on[c][h] += n
	f.in[c][f.domain[h]] += n
}

// A node of the search for a path: a class; a class in a domain; or a host.
type node struct {
	kind nodeKind
	a, b int // the class and the domain, or the host
}

type nodeKind uint8

const (
	classNode  nodeKind = iota // processes of class a have no host
	domainNode                 // processes of class a have domain b, and no host there
	hostNode                   // host a has more than it may have
)

// augment finds hosts for more processes of a class, if others can move. It follows the shortest
// path in the residual network, so that the number of steps is bounded.
func (f *flow) augment(c int) bool {
	start := node{classNode, c, 0}
	before := map[node]node{start: start}
	for queue := []node{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at.kind == hostNode && f.room[at.a] > 0 {
			f.follow(before, at, c)
			return true
		}
		f.each(at, func(next node) {
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		})
	}
	return false
}

// each calls visit for the nodes that processes at a node can move to.
func (f *flow) each(at node, visit func(node)) {
	switch at.kind {
	case classNode:
		for d := range f.byDomain {
			if f.in[at.a][d] < f.most(at.a) {
				visit(node{domainNode, at.a, d})
			}
		}
	case domainNode:
		for _, h := range f.byDomain[at.b] {
			if f.allowed[at.a][h] {
				visit(node{hostNode, h, 0})
			}
		}
		if f.in[at.a][at.b] > 0 { // another domain may have them
			visit(node{classNode, at.a, 0})
		}
	case hostNode:
		for c := range f.classes {
			if f.on[c][at.a] > 0 {
				visit(node{domainNode, c, f.domain[at.a]})
			}
		}
	}
}

// follow moves as many processes along a path as fit.
func (f *flow) follow(before map[node]node, end node, c int) {
	amount := min(f.left[c], f.room[end.a])
	for at := end; before[at] != at; at = before[at] {
		amount = min(amount, f.capacity(before[at], at))
	}
	f.left[c] -= amount
	f.room[end.a] -= amount
	for at := end; before[at] != at; at = before[at] {
		from := before[at]
		switch {
		case from.kind == classNode:
			f.in[from.a][at.b] += amount
		case at.kind == classNode:
			f.in[at.a][from.b] -= amount
		case from.kind == domainNode:
			f.on[from.a][at.a] += amount
		default:
			f.on[at.a][from.a] -= amount
		}
	}
}

// capacity is how many processes can move from a node to the next.
func (f *flow) capacity(from, to node) int {
	switch {
	case from.kind == classNode:
		return f.most(from.a) - f.in[from.a][to.b]
	case to.kind == classNode:
		return f.in[to.a][from.b]
	case from.kind == domainNode:
		return 1 << 30
	default:
		return f.on[to.a][from.a]
	}
}
