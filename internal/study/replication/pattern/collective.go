package pattern

import (
	"math/bits"

	"banyan/internal/study/field"
)

// sumBytes is the size of a scalar.
const sumBytes = 8

// sum adds up a scalar over all ranks by recursive doubling. Where their number is no power of two,
// the first ranks fold in pairs.
func (o *ops) sum(ranks, rank int) {
	first := len(o.list)
	power := 1 << (bits.Len(uint(ranks)) - 1)
	extra := ranks - power
	me := rank - extra
	if rank < 2*extra {
		if rank%2 == 0 {
			o.send(rank+1, 0, sumBytes)
			o.receive(rank+1, 0, sumBytes)
			o.wait(0)
			o.collective(first)
			return
		}
		me = rank / 2
		o.receive(rank-1, 0, sumBytes)
		o.wait(0)
	}
	for d := 1; d < power; d *= 2 {
		peer := me ^ d
		if peer += extra; peer < 2*extra {
			peer = 2*(peer-extra) + 1
		}
		o.exchange(peer, 0, sumBytes)
	}
	if rank < 2*extra {
		o.send(rank-1, 0, sumBytes)
		o.wait(0)
	}
	o.collective(first)
}

// exchange sends to a rank and receives from it.
func (o *ops) exchange(peer int, tag int32, bytes int64) {
	o.receive(peer, tag, bytes)
	o.send(peer, tag, bytes)
	o.wait(0)
}

// collective puts the operations from one on into the context of collectives.
func (o *ops) collective(first int) {
	for i := first; i < len(o.list); i++ {
		o.list[i].Collective = true
	}
}

// spread is how many exchanges of an allToAll are under way at a time.
const spread = 8

// allToAll exchanges bytes with each of n ranks, of which this one is the me-th; rankOf says which
// they are.
func (o *ops) allToAll(n, me int, bytes int64, rankOf func(i int) int) {
	first := len(o.list)
	for s := 1; s < n; s++ {
		if s > spread {
			o.wait(2 * (spread - 1))
		}
		o.receive(rankOf((me-s+n)%n), 0, bytes)
		o.send(rankOf((me+s)%n), 0, bytes)
	}
	o.wait(0)
	o.collective(first)
}

func fft(s *Spec) (func(rank int, o *ops), error) {
	return func(rank int, o *ops) {
		o.compute(1)
		o.allToAll(s.Ranks, rank, s.Bytes, func(i int) int { return i })
	}, nil
}

// pencil exchanges within the rows of a square grid, then within its columns.
func pencil(s *Spec) (func(rank int, o *ops), error) {
	g := square2(s.Ranks)
	if g.size[1] == 1 {
		return nil, field.Errorf("ranks", "%d: pencil needs a number that isn't prime", s.Ranks)
	}
	return func(rank int, o *ops) {
		x, y := rank%g.size[0], rank/g.size[0]
		o.compute(.5)
		o.allToAll(g.size[0], x, s.Bytes, func(i int) int { return y*g.size[0] + i })
		o.compute(.5)
		o.allToAll(g.size[1], y, s.Bytes, func(i int) int { return i*g.size[0] + x })
	}, nil
}

// cg is NAS CG: a matrix in blocks over rows and columns of processes.
func cg(s *Spec) (func(rank int, o *ops), error) {
	if s.Ranks&(s.Ranks-1) != 0 {
		return nil, field.Errorf("ranks", "%d: cg needs a power of two", s.Ranks)
	}
	log := bits.Len(uint(s.Ranks)) - 1
	rows, columns := 1<<(log/2), 1<<(log-log/2) // as many, or twice as many columns
	return func(rank int, o *ops) {
		row, column := rank/columns, rank%columns
		o.compute(.9)
		for d := 1; d < columns; d *= 2 {
			o.exchange(row*columns+column^d, 0, s.Bytes)
		}
		if peer := transposed(row, column, rows, columns); peer != rank {
			o.exchange(peer, 1, s.Bytes)
		}
		for range 2 {
			o.compute(.05)
			for d := 1; d < columns; d *= 2 {
				o.exchange(row*columns+column^d, 2, sumBytes)
			}
		}
	}, nil
}

// transposed is the process that holds the transposed part. Where there are twice as many columns
// as rows, a pair of columns counts as one.
func transposed(row, column, rows, columns int) int {
	if rows == columns {
		return column*columns + row
	}
	return column/2*columns + 2*row + column%2
}

// sweep passes wavefronts from each of the four corners.
func sweep(s *Spec) (func(rank int, o *ops), error) {
	blocks, err := atLeastOne("blocks", s.Blocks, 4, 10_000)
	if err != nil {
		return nil, err
	}
	g := square2(s.Ranks)
	return func(rank int, o *ops) {
		for corner := range 4 {
			x, y := 1-2*(corner&1), 1-corner&2
			for range blocks {
				for dimension, direction := range [2]int{x, y} {
					if up := g.neighbour(rank, dimension, -direction); up >= 0 {
						o.receive(up, int32(corner), s.Bytes)
					}
				}
				o.wait(0)
				o.compute(1 / float64(4*blocks))
				for dimension, direction := range [2]int{x, y} {
					if down := g.neighbour(rank, dimension, direction); down >= 0 {
						o.send(down, int32(corner), s.Bytes)
					}
				}
				o.wait(0)
			}
		}
	}, nil
}

// gather is rank 0's: it takes the results of all others as they come.
func gather(s *Spec) (func(rank int, o *ops), error) {
	return func(rank int, o *ops) {
		if rank > 0 {
			o.compute(1)
			o.send(0, 0, s.Bytes)
			o.receive(0, 1, s.Bytes)
			o.wait(0)
			return
		}
		for range s.Ranks - 1 {
			o.receive(-1, 0, s.Bytes)
			o.wait(0)
		}
		for r := 1; r < s.Ranks; r++ {
			o.send(r, 1, s.Bytes)
		}
		o.wait(0)
	}, nil
}

// atLeastOne is a setting, or its default where it is 0.
func atLeastOne(name string, n, otherwise, most int) (int, error) {
	if n == 0 {
		n = otherwise
	}
	if n < 1 || n > most {
		return 0, field.Errorf(name, "%d: want 1 to %d", n, most)
	}
	return n, nil
}
