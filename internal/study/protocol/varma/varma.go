// Package varma is the membership protocol of Varma et al., "Scalable,
// Fault-Tolerant Membership for MPI Tasks on HPC Systems" (2006), as printed in
// figure 3 and sections 3.3 to 3.7. It is for study only: package membership is what
// runs.
//
// A node that learns of a death tells the root, or, if it was the root, the node
// with the next ID. The root takes the dead out of its view and tells its children
// in the new tree, which do the same and tell theirs; leaves acknowledge, and so
// does every node whose children have. A node that joins tells the root, which
// spreads that likewise, and is welcomed when the tree is stable. Every node counts
// its views.
//
// # Where it breaks
//
// With a perfect detector and no message lost; TestWhereItBreaks has the figures,
// and TestSmallest the shortest conversations, which docs/results/membership-bench.md prints:
//
//   - The root dies while it spreads a death. Some have taken it in, the
//     next root may not have, and spreads only the root's death: views of one number
//     with different members, for good.
//   - Two change the view at once under one number, since every node counts for
//     itself and each new root begins where it is.
//   - A node dies that has to acknowledge: the root waits for ever. (The paper
//     times acknowledgements out. Then a parent's timer, which is first to run
//     out, declares a living child dead.)
//
// # Limits
//
// What the paper leaves open is read in its favour: a death is one of a set, the
// tree is over compacted positions, acknowledgements of an old change don't count for
// a new one. Sections 3.5 and 3.6 mention lists of the dead, and a message for a root's death
// that coincides with others, which figure 3 leaves out: see [Node.Lists]. There are
// no time-outs and no partitions.
package varma

import (
	"slices"

	"banyan/internal/proto"
)

// Kind is the kind of a message, by the paper's names.
type Kind uint8

const (
	// NodeFailure tells the root of a death.
	NodeFailure Kind = iota
	// RootFailure tells the next root of the root's.
	RootFailure
	// FailureDetAck answers both.
	FailureDetAck
	// FailedNode spreads deaths, RootDead the root's.
	FailedNode
	RootDead
	// NewNode asks to join, NewNodeJoin spreads it, JoinDetAck welcomes.
	NewNode
	NewNodeJoin
	JoinDetAck
	// FailureAck: the subtree is stable.
	FailureAck
)

// Message is a message between nodes.
type Message struct {
	Kind   Kind
	Nodes  []proto.Proc // the nodes that it is about; the view, of JoinDetAck
	Change int          // the sender's number of the change, in acknowledgements too
	Number uint64       // of the view, of JoinDetAck
}

// Action is a message to be sent, or, to NoProc, the news that the root's tree is
// stable.
type Action struct {
	To      proto.Proc
	Message Message
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action

// Node is one node.
type Node struct {
	// Lists has a root spread, with each death, all others that it knows of. Then the
	// next root makes up for what one that died had begun; views of one number still
	// differ on the way, and at the end where nodes are told of deaths at different times.
	Lists bool

	self    proto.Proc
	arity   int
	members []proto.Proc // its view, ascending
	number  uint64       // of its view, by its own count
	dead    []proto.Proc // those that the detector told of

	change   int          // the change it waits for acknowledgements of
	parent   proto.Proc   // the node that it will acknowledge it to, or NoProc if it is the root
	awaiting []proto.Proc // children that haven't acknowledged
	joiners  []proto.Proc // to be welcomed when the tree is stable
}

// New makes one of n nodes, 0 to n-1, in a tree with arity children each.
func New(self proto.Proc, n, arity int) *Node {
	m := &Node{self: self, arity: arity, number: 1, parent: proto.NoProc}
	for p := range n {
		m.members = append(m.members, proto.Proc(p))
	}
	return m
}

// Join makes a node that asks a root to be let in.
func Join(self, root proto.Proc, arity int, out *Actions) *Node {
	*out = append(*out, Action{root, Message{Kind: NewNode, Nodes: []proto.Proc{self}}})
	return &Node{self: self, arity: arity, parent: proto.NoProc}
}

// View is the node's view and its own number for it; nil before it is let in.
func (m *Node) View() (uint64, []proto.Proc) { return m.number, m.members }

// Waiting says that the node is a root whose tree isn't stable yet.
func (m *Node) Waiting() bool { return m.parent == proto.NoProc && len(m.awaiting) > 0 }

// Detected takes the detector's word that a node is dead.
func (m *Node) Detected(p proto.Proc, out *Actions) {
	m.dead = append(m.dead, p)
	if len(m.members) == 0 || !slices.Contains(m.members, p) {
		return
	}
	kind, to := NodeFailure, m.members[0]
	if p == to {
		kind, to = RootFailure, m.next()
	}
	if to == m.self {
		m.regroup([]proto.Proc{p}, rootKind(kind), out)
		return
	}
	*out = append(*out, Action{to, Message{Kind: kind, Nodes: []proto.Proc{p}}})
}

// next is the first node that isn't known to be dead: the next root.
func (m *Node) next() proto.Proc {
	for _, p := range m.members {
		if !slices.Contains(m.dead, p) {
			return p
		}
	}
	return m.self
}

func rootKind(k Kind) Kind {
	if k == RootFailure {
		return RootDead
	}
	return FailedNode
}

// Receive handles a message.
func (m *Node) Receive(from proto.Proc, x Message, out *Actions) {
	switch x.Kind {
	case NodeFailure, RootFailure:
		*out = append(*out, Action{from, Message{Kind: FailureDetAck, Nodes: x.Nodes}})
		// All but the first to tell are disregarded.
		if fresh := m.those(x.Nodes, true); len(fresh) > 0 {
			m.regroup(fresh, rootKind(x.Kind), out)
		}
	case FailedNode, RootDead:
		m.take(m.those(x.Nodes, true), nil)
		m.spread(from, x, out)
	case NewNode:
		if fresh := m.those(x.Nodes, false); len(fresh) > 0 {
			m.joiners = append(m.joiners, fresh...)
			m.regroup(fresh, NewNodeJoin, out)
		}
	case NewNodeJoin:
		m.take(nil, m.those(x.Nodes, false))
		m.spread(from, x, out)
	case JoinDetAck:
		if len(m.members) == 0 {
			m.members, m.number = slices.Clone(x.Nodes), x.Number
		}
	case FailureAck:
		if i := slices.Index(m.awaiting, from); i >= 0 && x.Change == m.change {
			m.awaiting = slices.Delete(m.awaiting, i, i+1)
			m.stable(out)
		}
	}
}

// those are the nodes of a list that are in the view, or aren't.
func (m *Node) those(list []proto.Proc, in bool) []proto.Proc {
	return slices.DeleteFunc(slices.Clone(list), func(p proto.Proc) bool { return slices.Contains(m.members, p) != in })
}

// regroup is the root's: it changes its view and tells its children.
func (m *Node) regroup(nodes []proto.Proc, kind Kind, out *Actions) {
	if kind == NewNodeJoin {
		m.take(nil, nodes)
	} else {
		if m.Lists {
			nodes = slices.Clone(nodes)
			for _, p := range m.dead {
				if !slices.Contains(nodes, p) {
					nodes = append(nodes, p)
				}
			}
		}
		m.take(m.those(nodes, true), nil)
	}
	m.change++
	m.spread(proto.NoProc, Message{Kind: kind, Nodes: nodes, Change: m.change}, out)
}

// take changes the view. Each change has a number, as its node counts.
func (m *Node) take(gone, joined []proto.Proc) {
	if len(gone)+len(joined) == 0 || len(m.members) == 0 {
		return
	}
	m.number++
	m.members = slices.DeleteFunc(m.members, func(p proto.Proc) bool { return slices.Contains(gone, p) })
	m.members = append(m.members, joined...)
	slices.Sort(m.members)
}

// spread passes a change on to the children in the new tree.
func (m *Node) spread(parent proto.Proc, x Message, out *Actions) {
	m.parent, m.change, m.awaiting = parent, x.Change, nil
	place := slices.Index(m.members, m.self)
	for i := m.arity*place + 1; place >= 0 && i <= m.arity*(place+1) && i < len(m.members); i++ {
		child := m.members[i]
		if slices.Contains(m.joiners, child) || x.Kind == NewNodeJoin && slices.Contains(x.Nodes, child) {
			continue // it is welcomed at the end
		}
		*out = append(*out, Action{child, x})
		m.awaiting = append(m.awaiting, child)
	}
	m.stable(out)
}

// stable acknowledges a change when all children have, or ends it at the root.
func (m *Node) stable(out *Actions) {
	switch {
	case len(m.awaiting) > 0:
	case m.parent != proto.NoProc:
		*out = append(*out, Action{m.parent, Message{Kind: FailureAck, Change: m.change}})
	default:
		for _, p := range m.joiners {
			*out = append(*out, Action{p, Message{Kind: JoinDetAck, Nodes: slices.Clone(m.members), Number: m.number}})
		}
		m.joiners = nil
		*out = append(*out, Action{To: proto.NoProc})
	}
}
