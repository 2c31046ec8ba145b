package replica

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
)

// op is one step of a program.
type op struct {
	kind    opKind
	peer    proto.Rank
	context uint64
}

type opKind uint8

const (
	opSend  opKind = iota // an eager message to peer
	opOffer               // a rendezvous to peer; doesn't wait
	opRecv                // the next message from peer; waits for it
	opWait                // until every rendezvous sent so far is released
)

// script is a program: the steps of each rank.
type script [][]op

// expected is the index, in the script of src, of the n-th message (from 0) that it sends to
// dst in a context. The failure-free run delivers that message.
func (s script) expected(src, dst proto.Rank, context uint64, n int) int {
	for i, o := range s[src] {
		if (o.kind == opSend || o.kind == opOffer) && o.peer == dst && o.context == context {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// parse reads the program of one of two ranks. Of its steps, s is a send, o an offer, r a
// receive and w a wait; a digit is the context (default 0). In a job of more ranks a letter
// after that names the peer: a for rank 0, b for rank 1.
func parse(t testing.TB, steps string, peer proto.Rank) (ops []op) {
	for _, step := range strings.Fields(steps) {
		o := op{peer: peer}
		switch step[0] {
		case 's':
			o.kind = opSend
		case 'o':
			o.kind = opOffer
		case 'r':
			o.kind = opRecv
		case 'w':
			o.kind = opWait
		default:
			t.Fatalf("no step %q", step)
		}
		for _, c := range step[1:] {
			if c >= 'a' {
				o.peer = proto.Rank(c - 'a')
			} else {
				o.context = uint64(c - '0')
			}
		}
		ops = append(ops, o)
	}
	return ops
}

// randomProgram is a program that ends. Its messages have one global order, which every rank's
// sends and receives follow, so the earliest message that isn't received never waits for a
// later one. Some sends come earlier than that order requires, which fills the unexpected
// queues.
func randomProgram(r *rand.Rand, ranks, contexts, messages int) script {
	program := make(script, ranks)
	for range messages {
		src := r.IntN(ranks)
		dst := (src + 1 + r.IntN(ranks-1)) % ranks
		context := uint64(r.IntN(contexts))
		kind := opSend
		if r.IntN(3) == 0 {
			kind = opOffer
		}
		steps := &program[src]
		at := len(*steps)
		for at > 0 && (*steps)[at-1].kind == opRecv && r.IntN(2) == 0 {
			at--
		}
		*steps = slices.Insert(*steps, at, op{kind, proto.Rank(dst), context})
		if kind == opOffer && r.IntN(3) == 0 {
			*steps = append(*steps, op{kind: opWait})
		}
		program[dst] = append(program[dst], op{opRecv, proto.Rank(src), context})
	}
	return program
}
