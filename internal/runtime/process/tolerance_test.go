package process

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// survivor is a program that handles failures: it agrees again and again, revokes now and then, and
// after each error shrinks what it has and goes on there. All live ones must see the same.
type survivor struct {
	t       testing.TB
	seed    uint64
	rank    proto.Rank
	rounds  int
	context uint64 // its present communicator
	members []proto.Rank
	h       Handle
	a       *Agreement
	waits   Handle // a receive that only a revocation ends
	story   *[]string
	ended   bool
	n, idle int
	crew    func(each func(s *survivor, p *Process)) // all that live
}

// strict says that what dead ones have seen counts, too.
func (s *survivor) strict() bool { return s.seed%2 == 1 }

func (s *survivor) say(format string, args ...any) {
	*s.story = append(*s.story, fmt.Sprintf(format, args...))
}

func (s *survivor) step(p *Process) bool {
	if s.ended {
		return true
	}
	p.Watch()
	if s.a != nil {
		if !p.Done(s.h) {
			return false
		}
		_, err := p.Take(s.h)
		a := s.a
		if s.seed%2 == 1 { // a strict one
			s.crew(func(o *survivor, p *Process) {
				if o.context != s.context || o.a == nil {
					return
				}
				number := o.a.Number
				if number == 0 { // it comes behind those that were entered
					number = p.tolerates(o.context).entered + 1
				}
				if number <= a.Number && o.a.value == nil && !p.Done(o.h) {
					s.t.Errorf("seed %d: %v returns from agreement %d, whose outcome %v hasn't", s.seed, s.rank, a.Number, o.rank)
				}
			})
		}
		s.a = nil
		if a.Kind == AgreeFlags {
			s.say("%x agree %d: %x %v %v", s.context, a.Number, a.Flags, a.Failed, err)
			for _, r := range a.Failed {
				if !slices.Contains(p.Failed(s.context), r) {
					s.t.Errorf("seed %d: %v failed in an agreement, and %v doesn't know", s.seed, r, s.rank)
				}
			}
			if err == nil && s.n%3 != 0 {
				return false
			}
			// Something has failed, or is to look as if: everybody revokes and shrinks.
			if s.waits == (Handle{}) {
				s.waits = p.Receive(s.context, s.members[0], 77, make([]byte, 8))
			}
			if int(s.rank)%3 == s.n%3 || len(s.members) == 1 || err != nil {
				if err := p.Revoke(s.context); err != nil {
					s.t.Errorf("seed %d: revoke: %v", s.seed, err)
				}
			}
			return false
		}
		if err != nil {
			s.t.Errorf("seed %d: %v: shrink: %v", s.seed, s.rank, err)
			s.ended = true
			return true
		}
		s.say("%x shrink %d: %v", s.context, a.Number, a.Failed)
		var left []proto.Rank
		for _, r := range s.members {
			if !slices.Contains(a.Failed, r) {
				left = append(left, r)
			}
		}
		if !slices.Contains(left, s.rank) {
			s.t.Errorf("seed %d: %v is shrunk away", s.seed, s.rank)
		}
		old := s.context
		s.context, s.members = (s.context*31+a.Number+uint64(len(left)))*2, left
		if err := p.OpenContext(s.context, left, false); err != nil {
			s.t.Fatal(err)
		}
		p.CloseContext(old)
		return false
	}
	if s.waits != (Handle{}) {
		if !p.Done(s.waits) {
			if s.idle++; s.idle > 100 { // those that were to revoke may be dead
				p.Revoke(s.context)
			}
			return false
		}
		if _, err := p.Take(s.waits); !errors.Is(err, ErrRevoked) && !errors.Is(err, ErrRankLost) {
			s.t.Errorf("seed %d: the receive ends with %v", s.seed, err)
		}
		s.waits, s.idle = Handle{}, 0
		p.Revoke(s.context)
		s.h, s.a = p.Agree(s.context, AgreeShrink, 0, s.strict())
		return false
	}
	if s.rounds == 0 {
		s.ended = true
		return true
	}
	s.rounds--
	s.n++
	s.h, s.a = p.Agree(s.context, AgreeFlags, ^uint32(0)&^(1<<s.rank), s.strict())
	return false
}

// Programs that handle failures agree, revoke and shrink in whole processes, over a network that
// delays at will, while some of them die. What they see in the same agreement is the same, of
// strict agreements also what those had seen that died.
func TestSurvivors(t *testing.T) {
	for _, n := range []int{2, 3, 5, 9} {
		seeds(t, func(t *testing.T, seed uint64) {
			stories := make([]*[]string, n)
			all := make([]*survivor, n)
			var w *testJob
			crew := func(each func(s *survivor, p *Process)) {
				for q, s := range all {
					if node := w.nodes[q]; !node.dead {
						each(s, node.p)
					}
				}
			}
			c := Config{Layout: layout.Uniform(n, 1), Period: 100e6, Timeout: 1e9, askAfter: 2e5}
			w = newTestJobOf(t, seed, c, func(r proto.Rank, _ int) program {
				members := []proto.Rank{}
				for m := range proto.Rank(n) {
					members = append(members, m)
				}
				stories[r] = new([]string)
				all[r] = &survivor{t: t, seed: seed, rank: r, rounds: 8, context: 2, members: members, story: stories[r], crew: crew}
				if seed%4 > 1 && r == proto.Rank(int(seed)%n) {
					all[r].rounds = int(seed) % 7 // it finishes while the others go on
				}
				return all[r]
			})
			w.oneWitness = n == 5 && seed%6 == 0
			w.run(n/2, func() proto.Proc {
				q := proto.Proc(w.rng.IntN(n))
				return q
			})
			var longest []string
			for q, s := range stories {
				if !w.nodes[q].dead && len(*s) > len(longest) {
					longest = *s
				}
			}
			for q, s := range stories {
				if w.nodes[q].dead {
					if seed%2 == 1 && (len(*s) > len(longest) || !slices.Equal(*s, longest[:len(*s)])) {
						t.Errorf("seed %d: %d died, and had seen\n%v\nothers see\n%v", seed, q, *s, longest)
					}
					continue
				}
				finished := seed%4 > 1 && q == int(seed)%n
				if !slices.Equal(*s, longest) && !(finished && slices.Equal(*s, longest[:len(*s)])) {
					t.Errorf("seed %d: %d tells\n%v\nanother\n%v", seed, q, *s, longest)
				}
				if l := len(w.nodes[q].p.tolerance.list); l > 2 {
					t.Errorf("seed %d: %d keeps %d communicators", seed, q, l)
				}
			}
		})
	}
}
