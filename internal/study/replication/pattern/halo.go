package pattern

import (
	"math"

	"banyan/internal/proto"
)

// grid is a grid of processes with borders; x runs fastest.
type grid struct{ size [3]int }

// square2 and square3 are the grids of n processes that are the most square.
func square2(n int) grid {
	x := int(math.Sqrt(float64(n)))
	for n%x != 0 {
		x--
	}
	return grid{[3]int{n / x, x, 1}}
}

func square3(n int) grid {
	best := grid{[3]int{n, 1, 1}}
	surface := func(g grid) int { return g.size[0] + g.size[1] + g.size[2] }
	for x := 1; x*x*x <= n; x++ {
		if n%x != 0 {
			continue
		}
		if g := square2(n / x); g.size[0]+g.size[1]+x < surface(best) {
			best = grid{[3]int{g.size[0], g.size[1], x}}
		}
	}
	return best
}

// neighbour is the process next to one in a dimension, -1 beyond the border.
func (g grid) neighbour(rank, dimension, direction int) int {
	stride := 1
	for _, n := range g.size[:dimension] {
		stride *= n
	}
	at := rank/stride%g.size[dimension] + direction
	if at < 0 || at >= g.size[dimension] {
		return -1
	}
	return rank + direction*stride
}

// halo exchanges bytes with every neighbour in the grid. The tag is the direction in which a
// message travels.
func (o *ops) halo(g grid, rank int, bytes int64, any bool) {
	for _, receiving := range []bool{true, false} {
		for dimension := range g.size {
			for side, direction := range [2]int{-1, 1} {
				peer := g.neighbour(rank, dimension, direction)
				switch tag := int32(2 * dimension); {
				case peer < 0:
				case !receiving:
					o.send(peer, tag+int32(side), bytes)
				case any:
					o.receive(int(proto.AnyRank), tag+int32(1-side), bytes)
				default:
					o.receive(peer, tag+int32(1-side), bytes)
				}
			}
		}
	}
	o.wait(0)
}

func haloOf(g grid, s *Spec) func(rank int, o *ops) {
	return func(rank int, o *ops) {
		o.halo(g, rank, s.Bytes, s.Any)
		o.compute(1)
	}
}

func halo2D(s *Spec) (func(rank int, o *ops), error) { return haloOf(square2(s.Ranks), s), nil }
func halo3D(s *Spec) (func(rank int, o *ops), error) { return haloOf(square3(s.Ranks), s), nil }

// stencilCG multiplies a matrix from a 3-D grid by a vector, and needs two scalar products.
func stencilCG(s *Spec) (func(rank int, o *ops), error) {
	g := square3(s.Ranks)
	return func(rank int, o *ops) {
		o.halo(g, rank, s.Bytes, s.Any)
		o.compute(.8)
		o.sum(s.Ranks, rank)
		o.compute(.2)
		o.sum(s.Ranks, rank)
	}, nil
}

// multigrid is a V-cycle.
func multigrid(s *Spec) (func(rank int, o *ops), error) {
	levels, err := atLeastOne("levels", s.Levels, 5, 20)
	if err != nil {
		return nil, err
	}
	whole := 0.
	for l := range levels {
		whole += 2 * math.Pow(8, -float64(l))
	}
	g := square3(s.Ranks)
	return func(rank int, o *ops) {
		visit := func(level int) {
			o.halo(g, rank, max(8, s.Bytes>>(2*level)), s.Any)
			o.compute(math.Pow(8, -float64(level)) / whole)
		}
		for l := range levels {
			visit(l)
		}
		for l := levels - 1; l >= 0; l-- {
			visit(l)
		}
		o.sum(s.Ranks, rank)
	}, nil
}
