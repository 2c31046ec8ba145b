package file

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/join"
	"banyan/internal/job/join/jointest"
	"banyan/internal/mpi/comm"
	types "banyan/internal/mpi/datatype"
	"banyan/internal/proto"
)

// local runs a job of goroutines.
func local(t *testing.T, ranks int, run func(world *comm.Comm) error) {
	t.Helper()
	replicated(t, ranks, 1, run)
}

// replicated is local with so many replicas of each rank.
func replicated(t *testing.T, ranks, replicas int, run func(world *comm.Comm) error) {
	t.Helper()
	jointest.Run(t, join.LocalConfig{Ranks: ranks, Replicas: replicas}, func(_ int, m *join.Member) error {
		world, err := comm.World(m.Engine)
		if err != nil {
			return err
		}
		return run(world)
	})
}

func together(proto.Rank) int32 { return 0 }

// apart has each rank on a host of its own, as far as files go.
func apart(r proto.Rank) int32 { return int32(r) }

func open(w *comm.Comm, name string, hints Hints, host func(proto.Rank) int32) (*File, error) {
	c, err := w.Dup()
	if err != nil {
		return nil, err
	}
	return Open(Config{Comm: c, Name: name, Read: true, Write: true, Create: true, Hints: hints, Host: host})
}

// layout divides a file of n bytes among ranks, each of which has some of each block: the views,
// and the bytes of each rank.
func layout(r *rand.Rand, ranks int) (filetypes []*types.Type, extent int64, err error) {
	lengths, disps := make([][]int64, ranks), make([][]int64, ranks)
	for range 1 + r.IntN(12) {
		k, n := r.IntN(ranks), int64(1+r.IntN(40))
		if r.IntN(4) > 0 { // else a gap
			lengths[k], disps[k] = append(lengths[k], n), append(disps[k], extent)
		}
		extent += n
	}
	extent++
	for k := range ranks {
		if len(disps[k]) == 0 { // a byte that belongs to all of these: they don't write it
			lengths[k], disps[k] = []int64{1}, []int64{extent - 1}
		}
		ft, err := types.Indexed(lengths[k], disps[k], types.Predefined(byteHandle))
		if err != nil {
			return nil, 0, err
		}
		if ft, err = types.Resized(ft, 0, extent); err != nil {
			return nil, 0, err
		}
		filetypes = append(filetypes, ft)
	}
	return filetypes, extent, nil
}

// access writes and reads random parts of a file together, and compares it with a copy in
// memory. All ranks draw the same.
func access(w *comm.Comm, dir string, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 7))
	hints := Defaults()
	hints.Buffer = int64(4096 << r.IntN(2))
	hints.Nodes = int64(r.IntN(w.Size() + 1))
	hints.Read, hints.Write = Collective(r.IntN(3)), Collective(r.IntN(3))
	if r.IntN(2) == 0 {
		hints.Sieve = 0
	}
	name := filepath.Join(dir, fmt.Sprint(seed))
	f, err := open(w, name, hints, apart)
	if err != nil {
		return err
	}
	model := make([]byte, 0)
	for step := range 6 {
		filetypes, _, err := layout(r, w.Size())
		if err != nil {
			return err
		}
		disp := int64(r.IntN(100000))
		if err := f.SetAtomic(r.IntN(6) == 0); err != nil {
			return err
		}
		var mine Access
		var wants []byte
		write := r.IntN(2) == 0
		for k, ft := range filetypes {
			v, err := NewView(disp, types.Predefined(byteHandle), ft)
			if err != nil {
				return err
			}
			if k == w.Rank() {
				if err := f.SetView(v, 1, f.Hints()); err != nil {
					return err
				}
			}
			n := []int{0, 1, 100, 20000}[r.IntN(4)]
			if ft.Size() == 1 {
				n = 0
			}
			if n > 0 {
				n += r.IntN(n)
			}
			a := Access{Write: write, View: v, Skip: int64(r.IntN(50)), Data: make([]byte, n)}
			data := a.Data
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			runs, err := v.Runs(a.Skip, int64(n))
			if err != nil {
				return err
			}
			var there []byte
			at := 0
			for _, run := range runs {
				if write {
					for int64(len(model)) < run.End() {
						model = append(model, 0)
					}
					at += copy(model[run.Off:run.End()], data[at:])
				} else if run.Off < int64(len(model)) {
					there = append(there, model[run.Off:min(run.End(), int64(len(model)))]...)
				}
			}
			if k == w.Rank() {
				mine, wants = a, there
			}
		}
		var out Outcome
		plan := f.Collective(&mine, &out)
		if r.IntN(2) == 0 {
			err = plan.Run()
		} else {
			var o comm.Operation
			if o, err = plan.Start(); err == nil {
				err = o.Wait()
			}
		}
		switch {
		case err != nil:
			return err
		case out.Err != nil:
			return out.Err
		case write && out.N != int64(len(mine.Data)):
			return fmt.Errorf("seed %d, step %d: %d bytes of %d written", seed, step, out.N, len(mine.Data))
		case !write && !bytes.Equal(mine.Data[:out.N], wants):
			return fmt.Errorf("seed %d, step %d: read %d bytes, wants %d, equal in %d", seed, step, out.N, len(wants), same(mine.Data, wants))
		}
		if err := w.Barrier().Run(); err != nil {
			return err
		}
		if w.Rank() == 0 {
			got, err := content(f, name)
			if err != nil {
				return err
			}
			if !bytes.Equal(got, model) {
				return fmt.Errorf("seed %d, step %d: the file has %d bytes, wants %d, equal in %d", seed, step, len(got), len(model), same(got, model))
			}
		}
		if err := w.Barrier().Run(); err != nil {
			return err
		}
	}
	return f.Close()
}

// content is what the file has: with replicas, of which one may be ahead, as one of them finds it.
func content(f *File, name string) ([]byte, error) {
	if !f.copies {
		return os.ReadFile(name)
	}
	x := f.operation().part(true, func(caller) (int64, []byte, error) {
		b, err := os.ReadFile(name)
		return 0, b, err
	})
	if err := f.comm.Once(x); err != nil {
		return nil, err
	}
	_, got, err := f.outcome("read", x)
	return got, err
}

func same(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Collective accesses, by aggregators and alone, with windows that are smaller than the domains,
// leave the file that the same writes leave in memory, and read what is there.
func TestCollective(t *testing.T) {
	dir := t.TempDir()
	for _, ranks := range []int{1, 2, 3, 5} {
		local(t, ranks, func(w *comm.Comm) error {
			for i := range uint64(12) {
				if err := access(w, dir, uint64(ranks)<<20|i); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// The shared pointer gives each access a place of its own, in memory and in a file, and ordered
// accesses follow the ranks.
func TestSharedPointer(t *testing.T) {
	for name, host := range map[string]func(proto.Rank) int32{"memory": together, "file": apart} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			const n, each = 4, 50
			local(t, n, func(w *comm.Comm) error {
				f, err := open(w, path, Defaults(), host)
				if err != nil {
					return err
				}
				for i := range each {
					at, err := f.AdvanceShared(1)
					if err != nil {
						return err
					}
					if o := f.Independent(&Access{Write: true, View: f.View(), Skip: at, Data: []byte{byte(1 + w.Rank()*each + i)}}); o.Err != nil {
						return o.Err
					}
				}
				for i := range 3 {
					var out Outcome
					a := Access{Write: true, View: f.View(), Data: bytes.Repeat([]byte{byte(w.Rank())}, w.Rank()+i)}
					if err := f.Ordered(&a, &out).Run(); err != nil || out.Err != nil {
						return errors.Join(err, out.Err)
					}
				}
				if at, err := f.SharedPosition(); err != nil || w.Rank() == 0 && at < n*each {
					return fmt.Errorf("%d, %v", at, err)
				}
				if err := f.MoveShared(-1, FromEnd); err != nil {
					return err
				}
				if at, err := f.SharedPosition(); err != nil || at != n*each+3*6+3*n-1 {
					return fmt.Errorf("at %d: %v", at, err)
				}
				return f.Close()
			})
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[byte]bool{}
			for _, b := range got[:n*each] {
				seen[b] = true
			}
			if len(seen) != n*each || seen[0] {
				t.Errorf("%d of %d are there", len(seen), n*each)
			}
			var want []byte
			for i := range 3 {
				for r := range n {
					want = append(want, bytes.Repeat([]byte{byte(r)}, r+i)...)
				}
			}
			if !bytes.Equal(got[n*each:], want) {
				t.Errorf("in order: %v, want %v", got[n*each:], want)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// An error of one rank is an error of all, and so is one of an aggregator.
func TestErrorsOfOne(t *testing.T) {
	dir := t.TempDir()
	local(t, 3, func(w *comm.Comm) error {
		c, err := w.Dup()
		if err != nil {
			return err
		}
		cfg := Config{Comm: c, Name: filepath.Join(dir, "none"), Read: true, Host: together}
		if _, err := Open(cfg); !errors.Is(err, syscall.ENOENT) {
			return fmt.Errorf("a file that isn't there: %v", err)
		}
		cfg.Create, cfg.Write, cfg.Excl = true, true, true
		cfg.Wrong = w.Rank() == 1
		if _, err := Open(cfg); !errors.Is(err, ErrElsewhere) {
			return fmt.Errorf("wrong arguments of one: %v", err)
		}
		cfg.Wrong, cfg.Mode = false, int32(w.Rank()/2)
		if _, err := Open(cfg); !errors.Is(err, ErrNotSame) {
			return fmt.Errorf("different modes: %v", err)
		}
		cfg.Mode = 0
		f, err := Open(cfg)
		if err != nil {
			return err
		}
		if _, err := Open(cfg); !errors.Is(err, syscall.EEXIST) {
			return fmt.Errorf("exclusive: %v", err)
		}
		f.SetHints(func() Hints { h := Defaults(); h.Write = Enable; return h }())
		if w.Rank() == 0 { // the only aggregator of so few bytes
			f.f.Close()
		}
		var out Outcome
		a := Access{Write: true, View: f.View(), Skip: int64(w.Rank()), Data: []byte{1}}
		if err := f.Collective(&a, &out).Run(); err != nil {
			return err
		}
		if out.Err == nil {
			return errors.New("no error of the aggregator is told")
		}
		return nil
	})
}

// Messages that are fetched from their sender's memory stay there until they are: the memory of a
// window is used again only then.
func TestLargeWindows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	const ranks, piece, pieces = 3, 100 << 10, 12
	whole := make([]byte, ranks*piece*pieces)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range whole {
		whole[i] = byte(r.Uint32())
	}
	if err := os.WriteFile(name, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	local(t, ranks, func(w *comm.Comm) error {
		hints := Defaults()
		hints.Buffer, hints.Nodes = ranks*piece, 1
		f, err := open(w, name, hints, together)
		if err != nil {
			return err
		}
		one, err := types.Contiguous(piece, types.Predefined(byteHandle))
		if err != nil {
			return err
		}
		ft, err := types.Resized(one, 0, ranks*piece)
		if err != nil {
			return err
		}
		v, err := NewView(int64(w.Rank())*piece, types.Predefined(byteHandle), ft)
		if err != nil {
			return err
		}
		a := Access{View: v, Data: make([]byte, piece*pieces)}
		var out Outcome
		o, err := f.Collective(&a, &out).Start()
		if err != nil {
			return err
		}
		if w.Rank() == 1 { // it is late
			time.Sleep(50 * time.Millisecond)
		}
		if err := o.Wait(); err != nil || out.Err != nil || out.N != int64(len(a.Data)) {
			return fmt.Errorf("%d bytes: %v, %v", out.N, err, out.Err)
		}
		for i := range pieces {
			if got := a.Data[i*piece:][:piece]; !bytes.Equal(got, whole[(i*ranks+w.Rank())*piece:][:piece]) {
				return fmt.Errorf("piece %d is wrong", i)
			}
		}
		return f.Close()
	})
}
