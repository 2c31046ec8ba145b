package pacts

import (
	"errors"
	"flag"
	"fmt"

	"banyan/mpi"
)

// program is a program that handles failures and isn't send-deterministic. In each round each
// rank sends to two others, receives two messages from any source, and sends on in what order
// they came. Then all agree on whether that went well. If not they shrink the communicator. Each
// rank prints what its agreements have come to.
func program() {
	rounds := flag.Int("rounds", 100, "")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		p := player{comm: world, mixed: uint64(world.Rank())}
		for round := range *rounds {
			if err := p.round(round); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		fmt.Printf("rank %d %s\n", world.Rank(), p.outcomes)
		return nil
	}, mpi.SurviveRankLoss())
}

type player struct {
	comm     *mpi.Comm
	mixed    uint64
	outcomes string // of agreements in the last communicator, and the sizes of all
}

func (p *player) round(round int) error {
	err := p.exchange(round)
	if err != nil && !errors.Is(err, mpi.ErrProcFailed) && !errors.Is(err, mpi.ErrRevoked) {
		return err
	}
	flags := uint32(0xf0) | uint32(round)<<8
	if err == nil {
		flags |= 1
	} else if e := p.comm.Revoke(); e != nil {
		return e
	}
	all, err := p.comm.Agree(flags)
	if err != nil && !errors.Is(err, mpi.ErrProcFailed) {
		return err
	}
	if all&^1 != flags&^1 {
		return fmt.Errorf("agreed on %#x", all)
	}
	if err == nil && all&1 == 1 {
		return nil
	}
	p.outcomes += fmt.Sprintf("[%d %v %d", round, err != nil, all&1)
	shrunk, err := p.comm.Shrink()
	if err != nil {
		return err
	}
	p.outcomes += fmt.Sprintf(" %v]", shrunk.WorldRanks())
	p.comm = shrunk
	return nil
}

// exchange sends and receives two messages, and has a barrier each few rounds.
func (p *player) exchange(round int) error {
	n, me := p.comm.Size(), p.comm.Rank()
	if n < 3 {
		return nil
	}
	var sends [2]mpi.Request
	for i, step := range []int{1, 2} {
		r, err := mpi.Isend(p.comm, []uint64{p.mixed}, (me+step)%n, round)
		if err != nil {
			return err
		}
		sends[i] = r
	}
	var failure error
	for range 2 {
		got := []uint64{0}
		s, err := mpi.Recv(p.comm, got, mpi.AnySource, round)
		if err != nil {
			failure = err
			break
		}
		p.mixed = p.mixed*6364136223846793005 + got[0] + uint64(s.Source)
	}
	for i := range sends {
		if _, err := sends[i].Wait(); err != nil && failure == nil {
			failure = err
		}
	}
	if failure == nil && round%3 == 0 {
		sum := []uint64{0}
		failure = mpi.Allreduce(p.comm, []uint64{p.mixed}, sum, mpi.Sum)
		p.mixed += sum[0]
	}
	return failure
}
