package console

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/varint"
)

var errKilled = errors.New("killed")

// killedAfter is a disk of a process that is killed after so many units of work, in the middle of
// a write perhaps.
func killedAfter(left int) disk {
	return disk{spend: func(n int) (int, error) {
		if n <= left {
			left -= n
			return n, nil
		}
		n, left = left, 0
		return n, errKilled
	}}
}

// ranksWrite is what two ranks write, in an order of one launcher's own.
func ranksWrite(rng *rand.Rand, text [2]string, from positions) (all []Frame) {
	at := [2]int{int(from[0]), int(from[1])}
	for at[0] < len(text[0]) || at[1] < len(text[1]) {
		var f Frame
		for range 1 + rng.IntN(3) {
			source := rng.IntN(2)
			n := min(1+rng.IntN(20), len(text[source])-at[source])
			if n == 0 {
				continue
			}
			f.From = append(f.From, From{source, int64(at[source]), n})
			f.Data = append(f.Data, text[source][at[source]:at[source]+n]...)
			at[source] += n
		}
		if f.From != nil {
			all = append(all, f)
		}
	}
	return all
}

// A console that writes a file is killed at every step, in the middle of each write, and the next
// one goes on, perhaps with another launcher, which has another order. Each rank's bytes are there
// once and in order.
func TestFileKilledAtEveryStep(t *testing.T) {
	for _, x := range []struct{ label, own bool }{{false, false}, {true, false}, {false, true}} {
		label, own := x.label, x.own
		text := [2]string{strings.Repeat("a1\nlong line a2\n", 4), strings.Repeat("B\nBB2\n\n", 5)}
		for killed := 0; ; killed++ {
			path := filepath.Join(t.TempDir(), "out")
			os.WriteFile(path, []byte("before\n"), 0o600)
			write := func(d disk, seed uint64) error {
				f, err := openFile(path, "job-1", own, d)
				if err != nil {
					if errors.Is(err, errKilled) {
						return err
					}
					t.Fatal(err)
				}
				defer f.Close()
				f.begin(label)
				from := f.state.have
				if own {
					from = nil // it leaves out what it has
				}
				for _, frame := range ranksWrite(rand.New(rand.NewPCG(seed, 7)), text, from) {
					if own {
						for _, p := range frame.From {
							if err := f.put(p.Source, p.At, frame.Data[:p.Length]); err != nil {
								return err
							}
							frame.Data = frame.Data[p.Length:]
						}
						continue
					}
					if err := f.show(&frame); err != nil {
						return err
					}
				}
				return nil
			}
			ended := write(killedAfter(killed), 1) == nil
			write(killedAfter(killed%211), 2) // the next one is killed, too
			if err := write(disk{}, 3); err != nil {
				t.Fatal(err)
			}
			b, _ := os.ReadFile(path)
			rest, ok := strings.CutPrefix(string(b), "before\n")
			var got [2]strings.Builder
			for _, c := range rest {
				switch {
				case strings.ContainsRune("a1long line2", c):
					got[0].WriteRune(c)
				case c == 'B':
					got[1].WriteRune(c)
				}
			}
			strip := strings.NewReplacer("\n", "", "2", "").Replace
			if label {
				strip = strings.NewReplacer("\n", "", "2", "", "1", "", " ", "").Replace
			}
			if want := strip(text[0]); !ok || strip(got[0].String()) != want {
				t.Fatalf("killed at %d: rank 0 has written %q, want %q; file %q", killed, strip(got[0].String()), want, b)
			}
			if want := strip(text[1]); got[1].String() != want {
				t.Fatalf("killed at %d: rank 1 has written %q, want %q; file %q", killed, got[1].String(), want, b)
			}
			if ended {
				break
			}
		}
	}
}

// The file's length, and what something else has written, are looked at.
func TestFileChangedByOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	write := func(job string, pieces ...Frame) positions {
		f, err := OpenFile(path, job)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.begin(false)
		for _, p := range pieces {
			if err := f.show(&p); err != nil {
				t.Fatal(err)
			}
		}
		return f.state.have
	}
	piece := func(at int64, text string) Frame {
		return Frame{From: []From{{0, at, len(text)}}, Data: []byte(text)}
	}
	write("job-1", piece(0, "one "), piece(4, "two "))
	appended, _ := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	appended.WriteString("(a remark) ")
	appended.Close()
	if have := write("job-1", piece(8, "three ")); have[0] != 14 {
		t.Error(have)
	}
	if b, _ := os.ReadFile(path); string(b) != "one two (a remark) three " {
		t.Errorf("%q", b)
	}
	os.Truncate(path, 0)
	if have := write("job-1", piece(14, "four")); have[0] != 18 {
		t.Error(have)
	}
	if have := write("job-2"); len(have) != 0 {
		t.Error("another job has", have)
	}
	if b, _ := os.ReadFile(path); string(b) != "four" {
		t.Errorf("%q", b)
	}
	held, err := OpenFile(path, "job-1")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := OpenFile(path, "job-1"); err == nil || !strings.Contains(err.Error(), "another console writes") {
		t.Error(err)
	}
}

// A sidecar doesn't grow with what is written.
func TestSidecarIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := OpenFile(path, "job-1")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.begin(false)
	const n = 20_000
	for i := range n {
		if err := f.show(&Frame{From: []From{{i % 3, int64(i / 3), 1}}, Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + sidecarSuffix)
	if err != nil || info.Size() > 2*maxSidecar {
		t.Error(info, err)
	}
	b, _ := os.ReadFile(path + sidecarSuffix)
	s, later := readSidecar(b)
	for i := range later {
		s.apply(&later[i])
	}
	if s.have[0] != (n+2)/3 {
		t.Error(s.have)
	}
}

// Whatever a sidecar holds, it is read as far as it makes sense, and what was written is read as it
// was.
func FuzzSidecar(f *testing.F) {
	s := fileState{job: "job-1", at: 7, have: positions{0: 4, Launcher: 9}, unfinished: 1}
	b := s.append(nil)
	i := intent{at: 7, length: 3, sum: 99, have: positions{5: 1 << 40}}
	f.Add(i.append(b))
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, later := readSidecar(b)
		if s.job == "" {
			return
		}
		again := s.append(nil)
		for i := range later {
			again = later[i].append(again)
		}
		s2, later2 := readSidecar(again)
		if fmt.Sprint(s2) != fmt.Sprint(s) || fmt.Sprint(later2) != fmt.Sprint(later) {
			t.Fatalf("%v %v became %v %v", s, later, s2, later2)
		}
	})
}

// What a console says that it has is read as it was written, over several frames if need be.
func TestPositions(t *testing.T) {
	p := make(positions)
	for i := range 5000 {
		p.set(i+Launcher, int64(i)<<20)
	}
	got := make(positions)
	frames := p.frames(Stderr)
	for _, f := range frames {
		b := f.Append(nil)
		parsed, err := Parse(b[headSize:])
		if err != nil || len(b) > MaxFrame {
			t.Fatal(len(b), err)
		}
		r := varint.Read(parsed.Data)
		if err := got.read(&r); err != nil || !r.Done() {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(p) || len(frames) != 3 {
		t.Error(len(frames), "frames; other positions")
	}
}

func FuzzPositions(f *testing.F) {
	f.Add(positions{1: 2, 3: 4}.append(nil, []int{1, 3}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := make(positions)
		r := varint.Read(b)
		if p.read(&r) != nil || !r.Done() {
			return
		}
		again := make(positions)
		r = varint.Read(p.append(nil, p.sources()))
		if again.read(&r) != nil || !r.Done() || fmt.Sprint(again) != fmt.Sprint(p) {
			t.Fatalf("%v became %v", p, again)
		}
	})
}

// What is kept of an ended job is read as far as it is one.
func FuzzKeptOutput(f *testing.F) {
	var r record
	r.append(3, 17, []byte("text"))
	r.append(Launcher, 0, []byte("a message\n"))
	f.Add(r.rest())
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again record
		if r.restore(b) != nil {
			return
		}
		if err := again.restore(r.rest()); err != nil || !bytes.Equal(again.rest(), r.rest()) {
			t.Fatal(err)
		}
	})
}
