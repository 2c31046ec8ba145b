package pacts

import (
	"errors"
	"flag"
	"fmt"

	"banyan/mpi"
)

// program is a program that handles failures and isn't send-deterministic. In each round each
// rank sends to two others, receives two messages from any source, and sends on in what order
// they came. With -resilient all add up small and large data then, by resilient collectives. Then
// all agree on whether that went well. If not they shrink the communicator. Each rank prints what
// its agreements and resilient collectives have come to.
func program() {
	rounds, resilient := flag.Int("rounds", 100, ""), flag.Bool("resilient", false, "")
	flag.Parse()
	mpi.Main(func(world *mpi.Comm) error {
		p := player{comm: world, mixed: uint64(world.Rank()), resilient: *resilient}
		p.comm.SetResilient(*resilient)
		for round := range *rounds {
			if err := p.round(round); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
		fmt.Printf("rank %d %s %x\n", world.Rank(), p.outcomes, p.sums)
		return nil
	}, mpi.SurviveRankLoss())
}

type player struct {
	comm      *mpi.Comm
	mixed     uint64
	resilient bool
	outcomes  string // of agreements in the last communicator, and the sizes of all
	sums      uint64 // what the resilient collectives have come to, mixed
}

func (p *player) round(round int) error {
	err := p.exchange(round)
	if err != nil && !errors.Is(err, mpi.ErrProcFailed) && !errors.Is(err, mpi.ErrRevoked) {
		return err
	}
	if p.resilient {
		if err := p.add(round); err != nil {
			return err
		}
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
	p.comm.SetResilient(p.resilient)
	return nil
}

// add adds up what all have received, by resilient collectives: by an agreement that has the data,
// and by a try. All that live get the same sums, the same missing members, and the same errors.
func (p *player) add(round int) error {
	for _, size := range []int{1 + round%5, 600 + round} {
		mine, sum := make([]uint64, size), make([]uint64, size)
		for i := range mine {
			mine[i] = p.mixed + uint64(i)
		}
		err := mpi.Allreduce(p.comm, mine, sum, mpi.Sum)
		if err != nil && !errors.Is(err, mpi.ErrProcFailed) {
			return err
		}
		outcome := append(sum, uint64(len(p.comm.Missing())))
		if err != nil {
			outcome = append(outcome, 1)
		}
		for _, x := range outcome {
			p.sums = p.sums*6364136223846793005 + x
		}
	}
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
	if failure == nil && round%3 == 0 && !p.resilient {
		sum := []uint64{0}
		failure = mpi.Allreduce(p.comm, []uint64{p.mixed}, sum, mpi.Sum)
		p.mixed += sum[0]
	}
	return failure
}
