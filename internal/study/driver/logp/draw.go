package logp

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// FailRandom adds count random live processes other than the root to the dead ones. The same
// source gives the same processes.
func (c *Case) FailRandom(count int, source rand.Source) error {
	taken := NewSet(c.Procs)
	for _, f := range c.Failed {
		taken.Add(f)
	}
	live := c.Procs - 1 - taken.Len()
	if count < 0 || count > live {
		return fmt.Errorf("%d: want 0 to %d", count, live)
	}
	if count == 0 && slices.IsSorted(c.Failed) {
		return nil
	}
	left := c.left(taken, live, count)
	random := rand.New(source)
	drawn := make([]int, 0, len(c.Failed)+count)
	for i := range count {
		drawn = append(drawn, left.draw(i, i+random.IntN(live-i)))
	}
	c.Failed = sortedWith(drawn, c.Failed, c.Procs)
	return nil
}

// left are the processes that may be drawn, in ascending order: all but the root and those that are
// taken.
func (c *Case) left(taken Set, live, count int) shuffle {
	if live == c.Procs-1 && count < live/8 {
		return newSparseShuffle(count)
	}
	list := make([]int, 0, live)
	for p := 1; p < c.Procs; p++ {
		if !taken.Has(p) {
			list = append(list, p)
		}
	}
	return shuffle{list: list}
}

// sortedWith appends others to numbers below a limit, each of which is there once, and sorts all.
func sortedWith(numbers, others []int, limit int) []int {
	if len(others) > 0 || len(numbers) < limit/64 {
		all := append(numbers, others...)
		slices.Sort(all)
		return all
	}
	set := NewSet(limit) // to sort thousands of numbers takes as long as the rest of a broadcast
	for _, n := range numbers {
		set.Add(n)
	}
	numbers = numbers[:0]
	set.each(func(n int) { numbers = append(numbers, n) })
	return numbers
}

// shuffle is a list of processes whose elements are drawn as a Fisher-Yates shuffle does it: the
// i-th draw swaps element i with one from there on. Few draws out of very many processes move few
// of them. So a sparse one stands for the list 1, 2, 3, … and keeps only what is elsewhere, in a
// hash table.
type shuffle struct {
	list  []int
	moved []move // its length is a power of two, at least twice what is moved
}

// move says that a process stands at a place, which is counted from 1; the zero move is none.
type move struct{ place, process int32 }

// newSparseShuffle has room for so many draws.
func newSparseShuffle(draws int) shuffle {
	return shuffle{moved: make([]move, 2<<bits.Len(uint(draws)))}
}

// draw swaps the elements at two places, i <= j, and returns what i's is then. No later draw is of
// a place up to i.
func (s *shuffle) draw(i, j int) int {
	if s.list != nil {
		s.list[i], s.list[j] = s.list[j], s.list[i]
		return s.list[i]
	}
	first, _ := s.at(int32(i))
	chosen, entry := s.at(int32(j))
	*entry = move{int32(j + 1), first}
	return int(chosen)
}

// at is the process at a place, and the place's entry in the table, or the empty one where it
// would be.
func (s *shuffle) at(place int32) (process int32, entry *move) {
	mask := uint32(len(s.moved) - 1)
	for h := uint32(place) * 0x9e3779b1 >> 7; ; h++ {
		switch m := &s.moved[h&mask]; m.place {
		case 0:
			return place + 1, m
		case place + 1:
			return m.process, m
		}
	}
}
