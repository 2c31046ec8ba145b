package comm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
)

// pair connects the ranks below some rank of the world with the others. The leaders are the last
// ranks of their groups.
func pair(w *comm.Comm, below, tag int) (*comm.Inter, *comm.Comm, error) {
	colour, other := 0, w.Size()-1
	if w.Rank() >= below {
		colour, other = 1, below-1
	}
	group, err := w.Split(colour, 0)
	if err != nil {
		return nil, nil, err
	}
	i, err := group.Connect(group.Size()-1, comm.Meeting{Peer: w, Leader: other, Tag: tag})
	return i, group, err
}

// sum adds numbers that are long enough for their order to show in no result.
var sum = comm.Op{Size: 8, Combiner: comm.Func(func(left, right []byte) {
	for i := 0; i < len(left); i += 8 {
		binary.LittleEndian.PutUint64(left[i:], binary.LittleEndian.Uint64(left[i:])+binary.LittleEndian.Uint64(right[i:]))
	}
})}

// words are n numbers that only this rank of the world gives.
func words(world proto.Rank, n int) []byte {
	b := make([]byte, 8*n)
	for i := range n {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(world+1)<<32|uint64(i*i+1))
	}
	return b
}

// summed is the sum of the words of some ranks.
func summed(group []proto.Rank, n int) []byte {
	b := make([]byte, 8*n)
	for _, r := range group {
		sum.Combine(b, words(r, n))
	}
	return b
}

// joined is the words of some ranks, one after another.
func joined(group []proto.Rank, n int) (b []byte) {
	for _, r := range group {
		b = append(b, words(r, n)...)
	}
	return b
}

// started carries a plan out in one of the ways there are.
func started(p *comm.Plan, way int) error {
	if way == 0 {
		return p.Run()
	}
	if way == 1 {
		o, err := p.Start()
		if err != nil {
			return err
		}
		return o.Wait()
	}
	if err := p.Keep(); err != nil {
		return err
	}
	defer p.Free()
	for range 2 {
		o, err := p.Start()
		if err != nil {
			return err
		}
		if err := o.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// everyInter carries out each collective between two groups, with n words of each rank, and
// compares with what the definition gives.
func everyInter(i *comm.Inter, world proto.Rank, n, way int) error {
	remote, local := i.Ranks(), i.LocalRanks()
	rank := slices.Index(local, world)
	own, size := words(world, n), 8*n
	var wrong error
	check := func(what string, p *comm.Plan, got, want []byte) {
		if err := started(p, way); err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", what, err))
		} else if !bytes.Equal(got, want) {
			wrong = errors.Join(wrong, fmt.Errorf("%s of %d words, way %d: rank %d has %x, wants %x", what, n, way, world, got, want))
		}
	}
	check("Barrier", i.Barrier(), nil, nil)
	// The root moves through both groups.
	all := i.Whole().Ranks()
	for _, root := range all {
		from := comm.Bystander
		switch {
		case root == world:
			from = comm.Root
		case slices.Contains(remote, root):
			from = slices.Index(remote, root)
		}
		theirs := from >= 0 // the root is in the other group
		data, want := slices.Clone(own), own
		if theirs {
			data, want = make([]byte, size), words(root, n)
		}
		check("Bcast", i.Bcast(data, from), data, want)
		gathered, wanted := comm.Blocks{Data: make([]byte, len(remote)*size), Each: size}, make([]byte, len(remote)*size)
		if from == comm.Root {
			wanted = joined(remote, n)
		}
		check("Gather", i.Gather(own, gathered, from), gathered.Data, wanted)
		got, want := make([]byte, size), make([]byte, size)
		if theirs {
			want = words(root+proto.Rank(rank), n)
		}
		var parts comm.Blocks
		for r := range remote {
			parts.Parts = append(parts.Parts, words(world+proto.Rank(r), n))
		}
		check("Scatter", i.Scatter(parts, got, from), got, want)
		got, want = make([]byte, size), make([]byte, size)
		if from == comm.Root {
			want = summed(remote, n)
		}
		check("Reduce", i.Reduce(own, got, sum, from), got, want)
	}
	got := make([]byte, len(remote)*size)
	check("Allgather", i.Allgather(own, comm.Blocks{Data: got, Each: size}), got, joined(remote, n))
	// Each rank gives as many words as its rank in the world says, in all.
	var lists comm.Blocks
	var want, flat []byte
	for _, r := range remote {
		lists.Parts = append(lists.Parts, make([]byte, 8*int(r)))
		want = append(want, words(r, int(r))...)
	}
	if err := started(i.Allgather(words(world, int(world)), lists), way); err != nil {
		return err
	}
	if flat = slices.Concat(lists.Parts...); !bytes.Equal(flat, want) {
		return fmt.Errorf("Allgatherv: %x, want %x", flat, want)
	}
	// Rank a gives rank b of the other group a+b words.
	send, recv, want := comm.Blocks{}, comm.Blocks{}, nil
	for _, r := range remote {
		send.Parts = append(send.Parts, words(world, int(r+world)*n))
		recv.Parts = append(recv.Parts, make([]byte, 8*int(r+world)*n))
		want = append(want, words(r, int(r+world)*n)...)
	}
	if err := started(i.Alltoall(send, recv), way); err != nil {
		return err
	}
	if flat = slices.Concat(recv.Parts...); !bytes.Equal(flat, want) {
		return fmt.Errorf("Alltoall: %x, want %x", flat, want)
	}
	got = make([]byte, size)
	check("Allreduce", i.Allreduce(own, got, sum), got, summed(remote, n))
	both := len(remote) * len(local) * n
	block := len(remote) * n
	got = make([]byte, 8*block)
	check("ReduceScatterBlock", i.ReduceScatter(words(world, both), got, nil, sum), got, summed(remote, both)[8*rank*block:8*(rank+1)*block])
	counts := make([]int, len(local)) // all of it to the last
	counts[len(local)-1] = both
	got = make([]byte, 8*counts[rank])
	want = nil
	if rank == len(local)-1 {
		want = summed(remote, both)
	}
	check("ReduceScatter", i.ReduceScatter(words(world, both), got, counts, sum), got, want)
	return wrong
}

// Every collective between groups of all sizes has the result that its definition gives, in all
// ways to carry it out, with replicas and without.
func TestInterCollectives(t *testing.T) {
	for _, x := range []struct{ n, below, replicas int }{{2, 1, 1}, {3, 1, 1}, {5, 3, 1}, {7, 2, 1}, {9, 8, 1}, {3, 2, 2}, {5, 2, 2}, {3, 1, 3}} {
		t.Run(fmt.Sprintf("%d-%dx%d", x.below, x.n-x.below, x.replicas), func(t *testing.T) {
			local(t, x.n, x.replicas, func(w *comm.Comm, _ int) error {
				i, _, err := pair(w, x.below, 3)
				if err != nil {
					return err
				}
				for _, n := range []int{0, 1, 100, 6000} {
					for way := range 3 {
						if n < 6000 || way == 0 {
							if err := everyInter(i, proto.Rank(w.Rank()), n, way); err != nil {
								return err
							}
						}
					}
				}
				return i.Free()
			})
		})
	}
}

// sayAcross exchanges a number with each rank of the other group.
func sayAcross(i *comm.Inter, number byte) error {
	in := make([]byte, 1)
	for r := range i.Size() {
		p, err := i.Irecv(in, r, 5)
		if err != nil {
			return err
		}
		if err := i.Send([]byte{number}, r, 5); err != nil {
			return err
		}
		if s, err := p.Wait(); err != nil || s.Source != r || in[0] != number {
			return fmt.Errorf("heard %d of %d in place of %d of %d: %v", in[0], s.Source, number, r, err)
		}
	}
	return nil
}

// Communicators made of intercommunicators have the groups that they should, messages of their
// own, and the same contexts at every replica. Several may be made over one peer communicator.
func TestInterMakes(t *testing.T) {
	for _, replicas := range []int{1, 2, 3} {
		local(t, 6, replicas, func(w *comm.Comm, _ int) error {
			self := proto.Rank(w.Rank())
			first, group, err := pair(w, 4, 1)
			if err != nil {
				return err
			}
			second, _, err := pair(w, 4, 1)
			if err != nil {
				return err
			}
			dup, err := first.Dup()
			if err != nil {
				return err
			}
			// Colour 0 has 0, 2 and 4, with 2 before 0; colour 1 has 1, 3, 5.
			split, err := first.Split(int(self)%2, -int(self))
			if err != nil {
				return err
			}
			odd := self % 2
			if want := [][]proto.Rank{{2, 0}, {3, 1}}[odd]; self < 4 && !slices.Equal(split.LocalRanks(), want) ||
				self >= 4 && !slices.Equal(split.Ranks(), want) {
				return fmt.Errorf("split: %v and %v", split.LocalRanks(), split.Ranks())
			}
			// Nobody of the other group gives the colour 7; Undefined gives nothing.
			colour := []int{7, 0, 0, comm.Undefined, 0, 9}[self]
			some, err := first.Split(colour, 0)
			if err != nil || (some != nil) != slices.Contains([]proto.Rank{1, 2, 4}, self) {
				return fmt.Errorf("split of some: %v, %v", some, err)
			}
			mine := []proto.Rank{3, 1}
			if self >= 4 {
				mine = []proto.Rank{5, 4}
			}
			created, err := first.Create(mine)
			if err != nil || (created != nil) != slices.Contains(mine, self) || created != nil && !slices.Equal(created.LocalRanks(), mine) {
				return fmt.Errorf("created %v: %v", created, err)
			}
			if self >= 4 {
				mine = nil
			}
			none, err := first.Create(mine)
			if err != nil || none != nil {
				return fmt.Errorf("created of nothing: %v, %v", none, err)
			}
			for n, i := range []*comm.Inter{first, second, dup, split, some, created} {
				if i != nil {
					if err := sayAcross(i, byte(n)); err != nil {
						return err
					}
					if err := everyInter(i, self, 3, 1); err != nil {
						return err
					}
				}
			}
			for _, x := range []struct {
				high bool
				want []proto.Rank
			}{
				{self >= 4, []proto.Rank{0, 1, 2, 3, 4, 5}},
				{self < 4, []proto.Rank{4, 5, 0, 1, 2, 3}},
				{true, []proto.Rank{0, 1, 2, 3, 4, 5}},
			} {
				merged, err := dup.Merge(x.high)
				if err != nil || !slices.Equal(merged.Ranks(), x.want) {
					return fmt.Errorf("merged: %v, %v", merged, err)
				}
				if _, err := merged.Split(0, 0); err != nil {
					return err
				}
			}
			if _, err := dup.Merge(self == 1); !errors.Is(err, comm.ErrHigh) {
				return fmt.Errorf("a merge whose ranks disagree: %v", err)
			}
			// An intercommunicator may be the peer communicator.
			part, err := group.Split(group.Rank(), 0)
			if err != nil {
				return err
			}
			if group.Rank() < 2 {
				pairs, err := part.Connect(0, comm.Meeting{Peer: dup.Comm, Leader: 1 - group.Rank(), Tag: 9})
				if err != nil || pairs.Size() != 1 || pairs.LocalSize() != 1 {
					return fmt.Errorf("over an intercommunicator: %v, %v", pairs, err)
				}
				if err := sayAcross(pairs, 77); err != nil {
					return err
				}
			}
			if err := dup.Free(); err != nil {
				return err
			}
			return sayAcross(first, 9)
		})
	}
}

// Three groups are connected with each other. A receive of the program over the peer communicator,
// from any source, gets nothing of what the leaders tell each other.
func TestInterTriangle(t *testing.T) {
	local(t, 6, 2, func(w *comm.Comm, _ int) error {
		group, err := w.Split(w.Rank()/2, 0)
		if err != nil {
			return err
		}
		mine := w.Rank() / 2
		any, err := w.Irecv(make([]byte, 1), comm.AnySource, comm.AnyTag)
		if err != nil {
			return err
		}
		var made []*comm.Inter
		for _, to := range []int{0, 1, 2} {
			if to == mine {
				continue
			}
			i, err := group.Connect(0, comm.Meeting{Peer: w, Leader: 2 * to, Tag: (mine + to) % 3})
			if err != nil {
				return err
			}
			made = append(made, i)
		}
		for _, i := range made {
			if err := everyInter(i, proto.Rank(w.Rank()), 2, 0); err != nil {
				return err
			}
		}
		if err := w.Send([]byte{1}, (w.Rank()+1)%6, 0); err != nil {
			return err
		}
		s, err := any.Wait()
		if err == nil && s.Bytes != 1 {
			err = fmt.Errorf("the program's receive got a message of %d bytes", s.Bytes)
		}
		return err
	})
}

// Wrong arguments of a leader are an error at each member of its group.
func TestInterWrong(t *testing.T) {
	local(t, 4, 1, func(w *comm.Comm, _ int) error {
		group, err := w.Split(w.Rank()%2, 0)
		if err != nil {
			return err
		}
		if _, err := group.Connect(2, comm.Meeting{Peer: w}); !errors.Is(err, comm.ErrRank) {
			return fmt.Errorf("a leader that isn't there: %v", err)
		}
		for _, x := range []struct {
			leader, tag int
			want        error
		}{{9, 0, comm.ErrRank}, {1 - w.Rank()%2, -1, comm.ErrTag}, {w.Rank(), 0, comm.ErrOverlap}, {1 - w.Rank()%2 + 2, 4, nil}} {
			want := x.want
			if group.Rank() != 1 && want != nil {
				want = comm.ErrLeader
			}
			if _, err := group.Connect(1, comm.Meeting{Peer: w, Leader: x.leader, Tag: x.tag}); !errors.Is(err, want) {
				return fmt.Errorf("leader %d, tag %d: %v", x.leader, x.tag, err)
			}
		}
		// Groups that overlap: both leaders see it.
		all, err := w.Dup()
		if err != nil {
			return err
		}
		leader := w.Rank() % 2
		if w.Rank() > 1 {
			return nil
		}
		both, err := all.CreateGroup([]proto.Rank{0, 1}, 0)
		if err != nil {
			return err
		}
		if _, err := both.Connect(leader, comm.Meeting{Peer: w, Leader: 1 - leader}); !errors.Is(err, comm.ErrOverlap) {
			return fmt.Errorf("groups that overlap: %v", err)
		}
		return nil
	})
}
