package comm

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// trial is one collective of all members: their plans, and what must hold then.
type trial struct {
	plans []*Plan
	check func() error
	bytes int // the m of the cost formulas
}

// algorithm is one way to do a collective. rounds is the factor of α in its cost for n members, and
// share that of m β; -1: the test doesn't check it.
type algorithm struct {
	name   string
	fits   func(n int) bool
	make   func(rng *rand.Rand, w []*Comm) trial
	rounds func(n int) int
	share  func(n int) float64
}

func log(n int) int { return bits.Len(uint(n - 1)) }

func power(n int) bool { return n&(n-1) == 0 }

func several(n int) bool { return n > 1 }

// plus adds what folding costs.
func plus(n, extra int) int {
	if power(n) {
		return 0
	}
	return extra
}

func floor(n int) int { return bits.Len(uint(n)) - 1 }

// same expects each member's buffer to hold the given data.
func same(buffers [][]byte, want func(i int) []byte) func() error {
	return func() error {
		for i, b := range buffers {
			if w := want(i); w != nil && !bytes.Equal(b, w) {
				return fmt.Errorf("rank %d has another result", i)
			}
		}
		return nil
	}
}

func plansOf(w []*Comm, make func(p *Plan, i int)) []*Plan {
	var plans []*Plan
	for i, c := range w {
		p := c.plan("test")
		make(p, i)
		plans = append(plans, p)
	}
	return plans
}

// broadcasts.

func bcast(algorithm func(p *Plan, data []byte, root int)) func(*rand.Rand, []*Comm) trial {
	return func(rng *rand.Rand, w []*Comm) trial {
		root, m := rng.IntN(len(w)), rng.IntN(100)
		data := random(rng, m)
		buffers := make([][]byte, len(w))
		for i := range buffers {
			buffers[i] = make([]byte, m)
		}
		buffers[root] = data
		want := bytes.Clone(data)
		return trial{
			plans: plansOf(w, func(p *Plan, i int) { algorithm(p, buffers[i], root) }),
			check: same(buffers, func(int) []byte { return want }),
			bytes: m,
		}
	}
}

// reductions are trials in which every member has so many maps and expects their combinations.

type reduction struct {
	root     int
	operands [][]byte // copies, which stay unchanged
	send     [][]byte
	recv     [][]byte
}

func newReduction(rng *rand.Rand, n, elements int, inPlace bool) *reduction {
	r := &reduction{root: rng.IntN(n)}
	for range n {
		x := maps(rng, elements)
		r.operands = append(r.operands, bytes.Clone(x))
		r.send = append(r.send, x)
		if inPlace {
			r.recv = append(r.recv, x)
		} else {
			r.recv = append(r.recv, make([]byte, len(x)))
		}
	}
	return r
}

func reducing(algorithm func(p *Plan, r *reduction, i int), want func(r *reduction, i int) []byte) func(*rand.Rand, []*Comm) trial {
	return func(rng *rand.Rand, w []*Comm) trial {
		n := len(w)
		elements := rng.IntN(3 * n)
		r := newReduction(rng, n, elements, rng.IntN(2) == 0)
		return trial{
			plans: plansOf(w, func(p *Plan, i int) { algorithm(p, r, i) }),
			check: same(r.recv, func(i int) []byte { return want(r, i) }),
			bytes: elements * affineSize,
		}
	}
}

func all(r *reduction, _ int) []byte { return combined(r.operands) }

func atRoot(r *reduction, i int) []byte {
	if i != r.root {
		return nil
	}
	return combined(r.operands)
}

// reduceScatters have parts of different lengths.
func reduceScatter(algorithm func(p *Plan, send, recv []byte, starts []int, op Op)) func(*rand.Rand, []*Comm) trial {
	return func(rng *rand.Rand, w []*Comm) trial {
		n := len(w)
		starts := []int{0}
		for range n {
			starts = append(starts, starts[len(starts)-1]+affineSize*rng.IntN(4))
		}
		r := newReduction(rng, n, starts[n]/affineSize, false)
		inPlace := rng.IntN(2) == 0
		for i := range r.recv {
			own := starts[i+1] - starts[i]
			r.recv[i] = r.recv[i][:own]
			if inPlace {
				r.recv[i] = r.send[i][:own]
			}
		}
		return trial{
			plans: plansOf(w, func(p *Plan, i int) { algorithm(p, r.send[i], r.recv[i], starts, affine) }),
			check: same(r.recv, func(i int) []byte { return combined(r.operands)[starts[i]:starts[i+1]] }),
			bytes: starts[n],
		}
	}
}

// layout are blocks of random lengths at random places of a buffer.
func layout(rng *rand.Rand, lengths []int) Blocks {
	b := Blocks{Parts: make([][]byte, len(lengths))}
	whole := make([]byte, 0, 1000)
	for _, i := range rng.Perm(len(lengths)) {
		whole = append(whole, make([]byte, rng.IntN(3)+lengths[i])...)
		b.Parts[i] = whole[len(whole)-lengths[i]:]
	}
	return b
}

// randomise fills blocks with random bytes.
func randomise(rng *rand.Rand, b Blocks, n int) {
	for i := range n {
		copy(b.Of(i), random(rng, b.Len(i)))
	}
}

// uniform are blocks of one length.
func uniform(n, each int) Blocks { return Blocks{Data: make([]byte, n*each), Each: each} }

func lengths(rng *rand.Rand, n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = rng.IntN(10) * rng.IntN(2)
	}
	return l
}

// collecting are gathers and allgathers: parts[i] is the part of rank i.
func collecting(equal bool, algorithm func(p *Plan, send []byte, recv Blocks, root int), everywhere bool) func(*rand.Rand, []*Comm) trial {
	return func(rng *rand.Rand, w []*Comm) trial {
		n := len(w)
		root, each, whole := rng.IntN(n), rng.IntN(20), 0
		sizes := lengths(rng, n)
		var parts [][]byte
		for i := range n {
			if equal {
				sizes[i] = each
			}
			parts = append(parts, random(rng, sizes[i]))
			whole += sizes[i]
		}
		recv := make([]Blocks, n)
		for i := range recv {
			if equal {
				recv[i] = uniform(n, each)
			} else {
				recv[i] = layout(rng, sizes)
			}
		}
		inPlace := rng.IntN(2) == 0
		return trial{
			plans: plansOf(w, func(p *Plan, i int) {
				send := bytes.Clone(parts[i])
				if inPlace && (everywhere || i == root) {
					copy(recv[i].Of(i), send)
					send = recv[i].Of(i)
				}
				algorithm(p, send, recv[i], root)
			}),
			check: func() error {
				for i := range n {
					for k := range n {
						if (everywhere || i == root) && !bytes.Equal(recv[i].Of(k), parts[k]) {
							return fmt.Errorf("rank %d has another part of %d", i, k)
						}
					}
				}
				return nil
			},
			bytes: whole,
		}
	}
}

func scattering(equal bool, algorithm func(p *Plan, send Blocks, recv []byte, root int)) func(*rand.Rand, []*Comm) trial {
	return func(rng *rand.Rand, w []*Comm) trial {
		n := len(w)
		root, each, whole := rng.IntN(n), rng.IntN(20), 0
		sizes := lengths(rng, n)
		if equal {
			for i := range sizes {
				sizes[i] = each
			}
		}
		send := layout(rng, sizes)
		if equal {
			send = uniform(n, each)
		}
		randomise(rng, send, n)
		before := make([][]byte, n)
		recv := make([][]byte, n)
		for i := range recv {
			before[i] = bytes.Clone(send.Of(i))
			recv[i] = make([]byte, sizes[i])
			whole += sizes[i]
		}
		if rng.IntN(2) == 0 {
			recv[root] = send.Of(root)
		}
		return trial{
			plans: plansOf(w, func(p *Plan, i int) { algorithm(p, send, recv[i], root) }),
			check: same(recv, func(i int) []byte { return before[i] }),
			bytes: whole,
		}
	}
}

func exchanging(equal bool, algorithm func(p *Plan, send, recv Blocks)) func(*rand.Rand, []*Comm) trial {
	return func(rng *rand.Rand, w []*Comm) trial {
		n := len(w)
		each := rng.IntN(10)
		sizes := make([][]int, n) // by sender, by receiver
		for i := range sizes {
			sizes[i] = lengths(rng, n)
		}
		send, recv := make([]Blocks, n), make([]Blocks, n)
		for i := range n {
			back := make([]int, n)
			for k := range n {
				back[k] = sizes[k][i]
			}
			send[i], recv[i] = layout(rng, sizes[i]), layout(rng, back)
			if equal {
				send[i], recv[i] = uniform(n, each), uniform(n, each)
			}
			randomise(rng, send[i], n)
		}
		return trial{
			plans: plansOf(w, func(p *Plan, i int) { algorithm(p, send[i], recv[i]) }),
			check: func() error {
				for i := range n {
					for k := range n {
						if !bytes.Equal(recv[i].Of(k), send[k].Of(i)) {
							return fmt.Errorf("rank %d has another part of %d", i, k)
						}
					}
				}
				return nil
			},
			bytes: n * each,
		}
	}
}

var algorithms = []algorithm{
	{name: "barrier", rounds: log, make: func(_ *rand.Rand, w []*Comm) trial {
		var plans []*Plan
		for _, c := range w {
			plans = append(plans, c.Barrier())
		}
		return trial{plans: plans, check: func() error { return nil }}
	}},
	{name: "barrier gathered", rounds: func(n int) int { return 2 * min(n-1, 1) }, make: func(_ *rand.Rand, w []*Comm) trial {
		return trial{plans: plansOf(w, func(p *Plan, _ int) { p.gatheredBarrier() }), check: func() error { return nil }}
	}},
	{name: "allreduce gathered", fits: several, rounds: func(int) int { return 2 },
		make: reducing(func(p *Plan, r *reduction, i int) {
			p.gatheredAllreduce(fold(p.size(), i), r.send[i], r.recv[i], affine)
		}, all)},
	{name: "bcast binomial", make: bcast((*Plan).binomialBcast), rounds: log},
	{name: "bcast scatter", make: bcast((*Plan).scatteredBcast), rounds: func(n int) int { return log(n) + n - 1 }},
	{name: "allreduce doubling", fits: several, rounds: func(n int) int { return floor(n) + plus(n, 2) },
		make: reducing(func(p *Plan, r *reduction, i int) {
			p.doublingAllreduce(fold(p.size(), i), r.send[i], r.recv[i], affine)
		}, all)},
	{name: "allreduce halving", fits: several, rounds: func(n int) int { return 2*floor(n) + plus(n, 2) },
		share: func(n int) float64 { return 2 * float64(n-1) / float64(n) },
		make: reducing(func(p *Plan, r *reduction, i int) {
			p.halvingAllreduce(fold(p.size(), i), r.send[i], r.recv[i], affine)
		}, all)},
	{name: "reduce binomial", fits: several, rounds: func(n int) int { return log(n) + 1 },
		make: reducing(func(p *Plan, r *reduction, i int) { p.binomialReduce(r.send[i], r.recv[i], affine, r.root) }, atRoot)},
	{name: "reduce halving", fits: several, rounds: func(n int) int { return 2*floor(n) + plus(n, 2) },
		share: func(n int) float64 { return 2 * float64(n-1) / float64(n) },
		make: reducing(func(p *Plan, r *reduction, i int) {
			p.halvingReduce(fold(p.size(), i), r.send[i], r.recv[i], affine, r.root)
		}, atRoot)},
	{name: "reduce-scatter halving", fits: several, rounds: func(n int) int { return floor(n) + plus(n, 2) },
		make: reduceScatter((*Plan).halvingReduceScatter)},
	{name: "reduce-scatter pairwise", fits: several, make: reduceScatter((*Plan).pairwiseReduceScatter),
		rounds: func(n int) int { return n - 1 }},
	{name: "scan", rounds: log, make: reducing(func(p *Plan, r *reduction, i int) {
		p.doublingScan(r.send[i], r.recv[i], affine)
	}, func(r *reduction, i int) []byte { return combined(r.operands[:i+1]) })},
	{name: "exscan", rounds: log, make: reducing(func(p *Plan, r *reduction, i int) {
		p.doublingExscan(r.send[i], r.recv[i], affine)
	}, func(r *reduction, i int) []byte {
		if i == 0 {
			return nil
		}
		return combined(r.operands[:i])
	})},
	{name: "gather linear", make: collecting(false, (*Plan).linearGather, false), rounds: func(n int) int { return min(n-1, 1) }},
	{name: "gather binomial", fits: several, rounds: log, make: collecting(true, func(p *Plan, send []byte, recv Blocks, root int) {
		p.binomialGather(send, recv.Data, root)
	}, false)},
	{name: "scatter linear", make: scattering(false, (*Plan).linearScatter), rounds: func(n int) int { return min(n-1, 1) }},
	{name: "scatter binomial", fits: several, rounds: log, make: scattering(true, func(p *Plan, send Blocks, recv []byte, root int) {
		p.binomialScatter(send.Data, recv, root)
	})},
	{name: "allgather doubling", fits: power, rounds: log, share: func(n int) float64 { return float64(n-1) / float64(n) },
		make: collecting(true, func(p *Plan, send []byte, recv Blocks, _ int) {
			p.copy(recv.Of(p.rank()), send)
			p.doublingAllgather(recv.Data, len(send))
		}, true)},
	{name: "allgather Bruck", rounds: log, make: collecting(false, func(p *Plan, send []byte, recv Blocks, _ int) {
		p.copy(recv.Of(p.rank()), send)
		p.bruckAllgather(recv)
	}, true)},
	{name: "allgather ring", rounds: func(n int) int { return n - 1 }, make: collecting(false, func(p *Plan, send []byte, recv Blocks, _ int) {
		p.copy(recv.Of(p.rank()), send)
		p.ringAllgather(recv)
	}, true)},
	{name: "alltoall spread", make: exchanging(false, (*Plan).spreadAlltoall),
		rounds: func(n int) int { return (n-1+spread-1)/spread + 1 }},
	{name: "alltoall Bruck", rounds: log, make: exchanging(true, func(p *Plan, send, recv Blocks) {
		p.bruckAlltoall(send.Data, recv.Data, send.Each)
	})},
}

// Every algorithm gives the right result at any number of members, whatever the timing, with sends
// that end at once and with sends that end when they are received. It never uses memory for two
// things at a time, and costs what its file says.
func TestAlgorithms(t *testing.T) {
	for _, a := range algorithms {
		t.Run(a.name, func(t *testing.T) {
			for n := 1; n <= 17; n++ {
				if a.fits != nil && !a.fits(n) {
					continue
				}
				for seed := range uint64(5) {
					tryAlgorithm(t, a, n, seed)
				}
			}
			tryAlgorithm(t, a, 64, 0)
		})
	}
}

func tryAlgorithm(t *testing.T, a algorithm, n int, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	w := modelWorld(n)
	for _, synchronous := range []bool{false, true} {
		x := a.make(rng, w)
		m := model{rng: rng, synchronous: synchronous}
		c, err := m.run(x.plans)
		if err == nil {
			err = x.check()
		}
		if err != nil {
			t.Fatalf("%s, %d members, seed %d, synchronous %v: %v", a.name, n, seed, synchronous, err)
		}
		if !synchronous {
			if want := a.rounds(n); c.rounds > want {
				t.Errorf("%s, %d members, seed %d: %d messages one after another, at most %d are promised", a.name, n, seed, c.rounds, want)
			}
			if a.share != nil && power(n) {
				// Elements aren't cut: a part may have one more.
				if most := a.share(n)*float64(x.bytes) + float64(4*log(n)*affineSize); float64(c.bytes) > most {
					t.Errorf("%s, %d members, seed %d: %d bytes of %d, at most %.0f are promised", a.name, n, seed, c.bytes, x.bytes, most)
				}
			}
		}
		for _, p := range x.plans {
			p.release() // the next trial uses them again
		}
	}
}

// A barrier gathered at one member ends nowhere before the last member has called it.
func TestGatheredBarrierHolds(t *testing.T) {
	w := modelWorld(5)
	for last := range w {
		plans := plansOf(w, func(p *Plan, i int) {
			if i != last {
				p.gatheredBarrier()
			}
		})
		m := model{rng: rand.New(rand.NewPCG(1, uint64(last)))}
		if _, err := m.run(plans); err == nil {
			t.Errorf("without rank %d the others go on", last)
		}
		for _, p := range plans {
			p.release()
		}
	}
}

// Both ways to reduce small data combine in the same order: the result doesn't depend on the number
// of cores.
func TestGatheredAllreduceBrackets(t *testing.T) {
	op := Op{Size: 8, Combiner: Func(func(left, right []byte) { // not associative
		for i := range left {
			left[i] = 3*left[i] + 5*right[i] + 1
		}
	})}
	for n := 2; n <= 33; n++ {
		rng := rand.New(rand.NewPCG(uint64(n), 0))
		w := modelWorld(n)
		send, one, other := make([][]byte, n), make([][]byte, n), make([][]byte, n)
		for i := range n {
			send[i], one[i], other[i] = random(rng, 16), make([]byte, 16), make([]byte, 16)
		}
		for _, plans := range [][]*Plan{
			plansOf(w, func(p *Plan, i int) { p.gatheredAllreduce(fold(n, i), send[i], one[i], op) }),
			plansOf(w, func(p *Plan, i int) { p.doublingAllreduce(fold(n, i), send[i], other[i], op) }),
		} {
			m := model{rng: rng}
			if _, err := m.run(plans); err != nil {
				t.Fatal(err)
			}
			for _, p := range plans {
				p.release()
			}
		}
		for i := range n {
			if !bytes.Equal(one[i], other[0]) {
				t.Errorf("%d members: rank %d has another result", n, i)
			}
		}
	}
}

// The model notices what algorithms may do wrong.
func TestModelCanaries(t *testing.T) {
	for name, program := range map[string]func(p *Plan, b []byte){
		"waits for ever": func(p *Plan, b []byte) { // both send first
			p.send(1-p.rank(), b[:8])
			p.wait()
			p.receive(1-p.rank(), b[8:16])
		},
		"memory": func(p *Plan, b []byte) { // changed while it is sent
			p.receive(1-p.rank(), b[8:16])
			p.send(1-p.rank(), b[:8])
			p.copy(b[:8], b[16:24])
		},
		"is used": func(p *Plan, b []byte) { // received into what is sent
			p.receive(1-p.rank(), b[:8])
			p.send(1-p.rank(), b[:8])
		},
		"expects": func(p *Plan, b []byte) {
			p.exchange(1-p.rank(), b[:7], 1-p.rank(), b[8:16])
		},
		"never ends": func(p *Plan, b []byte) {
			p.exchange(1-p.rank(), b[:8], 1-p.rank(), b[8:16])
			p.send(1-p.rank(), b[:1])
		},
		"differ": func(p *Plan, b []byte) { p.combine(affine, b[:2], b[2:6]) },
	} {
		m := model{rng: rand.New(rand.NewPCG(1, 2)), synchronous: true}
		_, err := m.run(plansOf(modelWorld(2), func(p *Plan, _ int) { program(p, make([]byte, 24)) }))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the model says %v", name, err)
		}
	}
}
