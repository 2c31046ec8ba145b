package process

import (
	"bytes"
	"fmt"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// talks runs a job of talks that repeat, by rank, what was decided before; nil: nothing was. It
// gives what was seen, and what was decided. All live replicas of a rank have seen the same.
func talks(t *testing.T, seed uint64, l layout.Layout, threads, crashes int, repeat [][]byte) (seen map[int]uint64, decided [][]byte) {
	seen = map[int]uint64{}
	all := make([]*talk, 0, l.Procs())
	cfg := Config{Layout: l, Leader: true, Period: 100e6, Timeout: 1e9, Marker: func(proto.Proc, uint64) {}}
	w := newTestJobOf(t, seed, cfg, func(r proto.Rank, _ int) program {
		k := newTalk(int(r), l.Ranks(), threads, 3, 100, seen, seed*7+uint64(len(all)))
		all = append(all, k)
		return k
	})
	var members []proto.Rank
	for r := range proto.Rank(l.Ranks()) {
		members = append(members, r)
	}
	for q, n := range w.nodes {
		if err := n.p.OpenContext(4, members, false); err != nil { // for each second round
			t.Fatal(err)
		}
		if repeat != nil {
			n.p.Repeat(repeat[l.Rank(proto.Proc(q))])
		}
	}
	w.run(crashes, func() proto.Proc {
		q := proto.Proc(w.rng.IntN(l.Procs()))
		for k := range l.Degree(l.Rank(q)) {
			if x := l.Proc(l.Rank(q), k); x != q && !w.nodes[x].dead {
				return q
			}
		}
		return proto.NoProc
	})
	decided = make([][]byte, l.Ranks())
	for q, n := range w.nodes {
		if n.dead {
			continue
		}
		if err := all[q].wrong(); err != nil {
			t.Fatalf("seed %d, process %d: %v", seed, q, err)
		}
		n.p.order.endTold()
		if err := n.p.Repeated(); err != nil {
			t.Fatalf("seed %d, process %d: %v", seed, q, err)
		}
		n.p.EndPrefix()
		prefix, err := n.p.Prefix()
		if err != nil {
			t.Fatal(err)
		}
		decided[l.Rank(proto.Proc(q))] = prefix
	}
	return seen, decided
}

// endTold forgets that the leader has come to its end, which is told behind all else.
func (o *ordered) endTold() {
	for _, t := range o.threads {
		if s := &t.script; !s.empty() && s.atEnd() {
			s.begin++
		}
	}
}

// A job that starts again does what it did the first time, with other timing and other deaths,
// whichever replica of a rank has kept what was decided; and notes the same again.
func TestPrefixIsRepeated(t *testing.T) {
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			differs := 0
			seeds(t, func(t *testing.T, seed uint64) {
				l := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(3, 2), layout.Uniform(2, 3)}[seed%3]
				first, decided := talks(t, seed, l, threads, int(seed%3), nil)
				again, noted := talks(t, seed+1000, l, threads, int(seed/3%3), decided)
				for r := range l.Ranks() {
					if first[r] != again[r] {
						t.Fatalf("seed %d: rank %d sees something else when it repeats", seed, r)
					}
				}
				third, _ := talks(t, seed+2000, l, threads, 0, noted)
				anew, other := talks(t, seed+3000, l, threads, 0, nil)
				for r := range l.Ranks() {
					if first[r] != third[r] {
						t.Fatalf("seed %d: rank %d sees something else when it repeats for the second time", seed, r)
					}
					if first[r] != anew[r] && !bytes.Equal(decided[r], other[r]) {
						differs++
					}
				}
			})
			if differs == 0 { // the canary: what isn't repeated is decided anew
				t.Error("all jobs decide the same of themselves")
			}
		})
	}
}

// What was decided has a bound.
func TestPrefixIsBounded(t *testing.T) {
	w := newTestJobOf(t, 1, Config{Layout: layout.Uniform(1, 2), Leader: true, Heal: true, Period: 100e6, Timeout: 1e9}, func(proto.Rank, int) program { return nil })
	p := w.nodes[0].p
	p.noteAnswer(AskTime, 1)
	p.order.prefix.noted.bytes = make([]byte, LogLimit+1)
	p.noteAnswer(AskTime, 2)
	p.EndPrefix()
	if _, err := p.Prefix(); err == nil {
		t.Error("a prefix of more than the limit was kept")
	}
	if err := p.FreezeLog(); err == nil || p.LogEncoder() != nil {
		t.Errorf("a donor has no prefix: %v", err)
	}
}
