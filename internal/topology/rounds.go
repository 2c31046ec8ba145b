package topology

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Binomial returns the binomial tree, the Lamé tree of order 1.
func Binomial(procs int, n Numbering) (Tree, error) { return Lame(procs, 1, n) }

// Lame returns the Lamé tree of order k ≥ 1: in every round each process that is
// ready sends to a new one, which is ready k rounds later.
func Lame(procs, k int, n Numbering) (Tree, error) {
	if err := checkProcs(procs); err != nil {
		return Tree{}, err
	}
	if k < 1 {
		return Tree{}, fmt.Errorf("a Lamé tree of order %d: want at least 1", k)
	}
	return ofRounds(procs, 1, int64(k), n)
}

// Optimal returns the tree that reaches all earliest in the LogP model with
// latency ≥ 0 and overhead ≥ 1, in the same unit of time: a process sends every
// o, and its receiver is ready 2o + L after the send began. Where o divides
// L it is the Lamé tree of order 2 + L/o. Where it doesn't, interleaved
// numbering is by time too, but see [Tree.Interleaved].
func Optimal(procs, latency, overhead int, n Numbering) (Tree, error) {
	if err := checkProcs(procs); err != nil {
		return Tree{}, err
	}
	if latency < 0 || overhead < 1 {
		return Tree{}, fmt.Errorf("an optimal tree for latency %d, overhead %d: want at least 0 and 1", latency, overhead)
	}
	if latency > math.MaxInt32 || overhead > math.MaxInt32 {
		return Tree{}, errTooLong
	}
	step, delay := int64(overhead), 2*int64(overhead)+int64(latency)
	if g := gcd(step, delay); g > 1 {
		step, delay = step/g, delay/g
	}
	return ofRounds(procs, step, delay, n)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// maxRounds bounds the memory of a tree. Only trees of very many processes in
// which the root sends tens of thousands of messages come near it.
const maxRounds = 1 << 17

var (
	errTooMany = fmt.Errorf("the tree has more than %d rounds: choose a smaller k, or a latency of fewer overheads", maxRounds)
	errTooLong = errors.New("the tree's dissemination takes more than 2^31 units of time: choose a coarser unit")
)

// A round is an instant at which processes send. Time begins when the root does.
type round struct {
	time  int32
	first int32 // the lowest process that is sent to in this round
	// shift is how many processes precede, in every round that they send in,
	// those that were sent to in this one: the i-th of them (from 0) sends to
	// first + shift + i of that round.
	shift int32
	ready int32 // the round in which those that are sent to now send first
	next  int32 // the round in which those that send now send again
}

// rounds are those of a tree in order, each with at least one sender, up to the
// first that would reach no process of the tree. An index may equal their
// number: beyond the end.
//
// Processes are numbered in the order of their rounds, within a round in the
// order of their parents. With S(t) senders at time t, of whom S(t-step) sent a
// step before and the others were sent to at t-delay,
//
//	S(t) = S(t-step) + S(t-delay), S(0) = 1,
//
// which is the paper's R(t) where the step is 1. A process that was sent to at time u
// sends first at f = u + delay, after S(f-step) others, and keeps that distance
// to the first sender in each of its rounds, since those who join later are
// numbered later.
type rounds struct {
	step, delay int64 // between a process's sends; until one that is sent to sends
	list        []round
	end         int32 // the time by which all have been sent to; the root's horizon
}

func ofRounds(procs int, step, delay int64, n Numbering) (Tree, error) {
	// The root's rounds before any other process sends are at most procs-1.
	list := []round{{first: 1}}
	senders := []int64{1}
	p, q := 0, 0 // rounds whose next and ready are still to be found
	for total := int64(2); total < int64(procs); {
		i := len(list)
		if i == maxRounds {
			return Tree{}, errTooMany
		}
		again, joined := int64(list[p].time)+step, int64(list[q].time)+delay
		now, count, before := min(again, joined), int64(0), int64(0)
		if now >= math.MaxInt32 {
			return Tree{}, errTooLong
		}
		if again == now {
			before = senders[p]
			list[p].next = int32(i)
			p++
		}
		if joined == now {
			list[q].shift, list[q].ready = int32(before), int32(i)
			count = senders[q]
			q++
		}
		count += before
		list = append(list, round{time: int32(now), first: int32(total)})
		senders = append(senders, count)
		total += count
	}
	if procs == 1 {
		list = list[:0]
	}
	for i := range list {
		if i >= p {
			list[i].next = int32(len(list))
		}
		if i >= q {
			list[i].ready = int32(len(list))
		}
	}
	r := rounds{step: step, delay: delay, list: slices.Clip(list)}
	if len(list) > 0 {
		r.end = list[len(list)-1].time + 1
	}
	return Tree{procs: int32(procs), numbering: n, rounds: r}, nil
}

// dense says that a round's index is its time.
func (r *rounds) dense() bool { return r.step == 1 }

// round returns the round in which a process other than the root is sent to.
func (r *rounds) round(process int32) int32 {
	lo, hi := int32(0), int32(len(r.list))
	for lo+1 < hi {
		if mid := int32(uint32(lo+hi) / 2); r.list[mid].first <= process {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// atOrAfter returns the first round at or after a time, or the number of rounds.
func (r *rounds) atOrAfter(time int64) int32 {
	if r.dense() {
		return int32(max(0, min(time, int64(len(r.list)))))
	}
	i, _ := slices.BinarySearchFunc(r.list, time, func(x round, t int64) int { return int(int64(x.time) - t) })
	return int32(i)
}
