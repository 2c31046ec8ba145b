package rma

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/mpi/datatype"
	"banyan/internal/mpi/reduce"
	"banyan/internal/testing/explore"
)

const (
	cells    = 6  // of each part
	cellSize = 32 // integers
)

var (
	integer     = datatype.Predefined(0x258)
	complexType = datatype.Predefined(0x216)
)

// model is what all ranks know of all parts: every rank computes the whole program.
type model struct {
	r     *rand.Rand
	ranks int
	parts [][]int64
	epoch string
}

// pattern is integers of a cell in the order of a datatype.
func (m *model) pattern() (typ *datatype.Type, count int64, at []int) {
	n, length := 1+m.r.IntN(3), 1+m.r.IntN(3)
	stride := length + m.r.IntN(3)
	typ, err := datatype.Vector(int64(n), int64(length), int64(stride), integer)
	if err != nil {
		panic(err)
	}
	for i := range n {
		for j := range length {
			at = append(at, i*stride+j)
		}
	}
	return typ, 1, at
}

// buffer is memory of the origin for n integers, in a row or not, with a function that copies them
// from or to it.
func (m *model) buffer(n int) (b Buffer, memory []int64, step int) {
	step = 1 + m.r.IntN(2)
	memory = make([]int64, n*step)
	typ := integer
	if step == 2 {
		typ, _ = datatype.Resized(integer, 0, 16)
	}
	return Buffer{typ, unsafe.Pointer(&memory[0]), int64(n)}, memory, step
}

// check is done when the epoch is over.
type check func() error

// cell has some ranks access a cell of a target, so that the outcome is known.
func (m *model) cell(w *made, self, target, cell int) (c check, err error) {
	first := cell * cellSize
	part := m.parts[target][first : first+cellSize]
	origin := m.r.IntN(m.ranks)
	access := func(o int, a Access) error {
		if o != self {
			return nil
		}
		a.Rank, a.Disp = target, a.Disp+int64(first)
		_, err := w.Do(a)
		return err
	}
	switch what := m.r.IntN(5); what {
	case 0: // one rank puts
		typ, count, at := m.pattern()
		b, memory, step := m.buffer(len(at))
		for i, k := range at {
			part[k] = int64(m.r.Uint64())
			memory[i*step] = part[k]
		}
		return nil, access(origin, Access{Type: typ, Count: count, Origin: b}.Put())
	case 1: // all get
		for o := range m.ranks {
			typ, count, at := m.pattern()
			b, memory, step := m.buffer(len(at))
			if err := access(o, Access{Type: typ, Count: count, Result: b}.Get()); err != nil {
				return nil, err
			}
			if o != self {
				continue
			}
			want := slices.Clone(part)
			c = both(c, func() error {
				for i, k := range at {
					if memory[i*step] != want[k] {
						return fmt.Errorf("gets %d from integer %d of rank %d, want %d", memory[i*step], first+k, target, want[k])
					}
				}
				return nil
			})
		}
		return c, nil
	case 2: // all add
		op := []reduce.Op{reduce.Sum, reduce.Bxor, reduce.Max}[m.r.IntN(3)]
		for o := range m.ranks {
			typ, count, at := m.pattern()
			b, memory, step := m.buffer(len(at))
			for i, k := range at {
				v := int64(m.r.Uint64())
				memory[i*step] = v
				combine(op, &part[k], v)
			}
			if err := access(o, Access{Type: typ, Count: count, Origin: b, Op: op, Kind: datatype.Int64}.Accumulate()); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case 3: // all add what no instruction adds
		sums := unsafe.Slice((*complex128)(unsafe.Pointer(&part[0])), cellSize/2)
		values := make([]complex128, cellSize/2)
		for i := range values { // a put makes them whole numbers, so that the order of sums doesn't matter
			values[i] = complex(float64(m.r.IntN(100)), float64(i))
		}
		return m.addComplex(access, sums, values)
	default: // one rank fetches and changes the same integers again and again: in this order
		return m.sequence(access, part, origin == self, origin)
	}
}

func both(a, b check) check {
	if a == nil {
		return b
	}
	return func() error {
		if err := a(); err != nil {
			return err
		}
		return b()
	}
}

func combine(op reduce.Op, to *int64, v int64) {
	switch op {
	case reduce.Sum:
		*to += v
	case reduce.Bxor:
		*to ^= v
	case reduce.Max:
		*to = max(*to, v)
	case reduce.Replace:
		*to = v
	}
}

// addComplex replaces complex numbers by one rank, which then adds to them.
func (m *model) addComplex(access func(int, Access) error, sums, values []complex128) (check, error) {
	o := m.r.IntN(m.ranks)
	for _, op := range []reduce.Op{reduce.Replace, reduce.Sum, reduce.Sum} {
		for i, v := range values {
			if op == reduce.Replace {
				sums[i] = v
			} else {
				sums[i] += v
			}
		}
		b := Buffer{complexType, unsafe.Pointer(&values[0]), int64(len(values))}
		if err := access(o, Access{Type: complexType, Count: b.Count, Origin: b, Op: op, Kind: datatype.Complex128}.Accumulate()); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// sequence has one rank fetch what it has changed before.
func (m *model) sequence(access func(int, Access) error, part []int64, mine bool, origin int) (c check, err error) {
	typ, count, at := m.pattern()
	for range 1 + m.r.IntN(4) {
		op := []reduce.Op{reduce.Sum, reduce.Replace, reduce.NoOp, reduce.Max}[m.r.IntN(4)]
		b, memory, step := m.buffer(len(at))
		result, got, gotStep := m.buffer(len(at))
		var was []int64
		for i, k := range at {
			v := int64(m.r.Uint64())
			memory[i*step] = v
			was = append(was, part[k])
			combine(op, &part[k], v)
		}
		if err := access(origin, Access{Type: typ, Count: count, Origin: b, Result: result, Op: op, Kind: datatype.Int64}.Fetch()); err != nil {
			return nil, err
		}
		if mine {
			c = both(c, func() error {
				for i := range at {
					if got[i*gotStep] != was[i] {
						return fmt.Errorf("fetches %d by %v, want %d", got[i*gotStep], op, was[i])
					}
				}
				return nil
			})
		}
	}
	k := m.r.IntN(cellSize)
	value, with, hit := []int64{int64(m.r.Uint64())}, []int64{part[k]}, m.r.IntN(2) == 0
	if was := part[k]; hit {
		part[k] = value[0]
	} else {
		with[0] = was + 1
	}
	buffer := func(v []int64) Buffer { return Buffer{integer, unsafe.Pointer(&v[0]), 1} }
	got, was := make([]int64, 1), with[0]
	if !hit {
		was--
	}
	if mine {
		c = both(c, func() error {
			if got[0] != was {
				return fmt.Errorf("swap finds %d, want %d", got[0], was)
			}
			return nil
		})
	}
	return c, access(origin, Access{Type: integer, Count: 1, Disp: int64(k), Kind: datatype.Int64, Op: reduce.Replace,
		Origin: buffer(value), With: buffer(with), Result: buffer(got)}.Swap())
}

// begin and end enclose the accesses of an epoch.
func (m *model) begin(w *made, world *comm.Comm) error {
	everyone := w.everyone()
	switch m.epoch {
	case "fence":
		return w.Fence(true)
	case "start":
		if err := w.Post(everyone); err != nil {
			return err
		}
		return w.Start(everyone)
	case "lock all":
		return w.LockAll(false)
	}
	for _, r := range everyone {
		if err := w.Lock(r, false, false); err != nil {
			return err
		}
	}
	return nil
}

func (m *model) end(w *made, world *comm.Comm) error {
	switch m.epoch {
	case "fence":
		return w.Fence(false)
	case "start":
		if err := w.Complete(); err != nil {
			return err
		}
		return w.Wait()
	case "lock all":
		if m.r.IntN(2) == 0 {
			if err := w.Flush(-1, false); err != nil {
				return err
			}
		}
		if err := w.UnlockAll(); err != nil {
			return err
		}
	default:
		for _, r := range w.everyone() {
			if err := w.Unlock(r); err != nil {
				return err
			}
		}
	}
	if err := world.Barrier().Run(); err != nil {
		return err
	}
	return w.Sync()
}

// program runs a random program, and compares each epoch with the model.
func program(world *comm.Comm, w *made, seed uint64, epochs []string, rounds int) error {
	m := &model{r: rand.New(rand.NewPCG(seed, 5)), ranks: world.Size()}
	for range m.ranks {
		m.parts = append(m.parts, make([]int64, cells*cellSize))
	}
	for round := range rounds {
		m.epoch = epochs[m.r.IntN(len(epochs))]
		if err := m.begin(w, world); err != nil {
			return fmt.Errorf("seed %d, round %d, %s begins: %w", seed, round, m.epoch, err)
		}
		var checks check = func() error { return nil }
		for target := range m.ranks {
			for cell := range cells {
				c, err := m.cell(w, world.Rank(), target, cell)
				if err != nil {
					return fmt.Errorf("seed %d, round %d, %s: %w", seed, round, m.epoch, err)
				}
				if c != nil {
					checks = both(checks, c)
				}
			}
		}
		err := m.end(w, world)
		if err == nil {
			err = checks()
		}
		if err != nil {
			return fmt.Errorf("seed %d, round %d, %s: %w", seed, round, m.epoch, err)
		}
		for i, v := range m.parts[world.Rank()] {
			if w.own[i] != v {
				return fmt.Errorf("seed %d, round %d, %s: integer %d is %d, want %d", seed, round, m.epoch, i, w.own[i], v)
			}
		}
		if err := world.Barrier().Run(); err != nil {
			return err
		}
	}
	return w.close()
}

// Random programs do what a sequential model says, by each way and in each kind of epoch.
func TestModel(t *testing.T) {
	seeds := uint64(4)
	if explore.Long() {
		seeds = 300
	}
	all := []string{"fence", "start", "lock all", "locks"}
	for _, way := range []struct {
		name                   string
		brings, closed, spread bool
		ranks, replicas        int
		epochs                 []string
	}{
		{"loads and stores", false, false, false, 3, 1, all},
		{"messages", true, true, false, 3, 1, all},
		{"copies by the system", true, false, false, 3, 1, all},
		{"hosts", false, false, true, 4, 1, all},
		{"hosts, messages", true, true, true, 3, 1, all},
		{"alone", true, false, false, 1, 1, all},
		{"replicas", true, false, false, 3, 2, []string{"fence"}},
		{"leader order", true, false, false, 3, 2, all},
	} {
		t.Run(way.name, func(t *testing.T) {
			host := together
			if way.spread {
				host = inPairs
			}
			for seed := range seeds {
				run := local
				if way.name == "leader order" {
					run = localLed
				}
				run(t, way.ranks, way.replicas, func(world *comm.Comm) error {
					w, err := open(world, cells*cellSize, way.brings, way.closed, host)
					if err != nil {
						return err
					}
					return program(world, w, seed, way.epochs, 12)
				})
			}
		})
	}
}
