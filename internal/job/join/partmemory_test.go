package join

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"banyan/internal/runtime/state"
)

func newPartMemory(t testing.TB) *partMemory {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	m := &partMemory{file: os.NewFile(uintptr(fd), "test")}
	t.Cleanup(func() {
		m.file.Close()
		if m.mapped != nil {
			unix.Munmap(m.mapped)
		}
	})
	return m
}

// encoder is a part with some memory of a program.
func encoder(memory []byte) *state.Encoder { return state.NewEncoder(state.Bytes("memory", memory)) }

func stream(memory []byte) (b []byte) {
	e := encoder(memory)
	for piece := e.Next(1 << 20); piece != nil; piece = e.Next(1 << 20) {
		b = append(b, piece...)
	}
	return b
}

// The memory has the last part, whatever was there: shorter and longer ones, nothing, what the
// agent has put there meanwhile.
func TestPartMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newPartMemory(t)
		if rapid.Bool().Draw(rt, "prepared") {
			m.prepare(rapid.Int64Range(1, 100_000).Draw(rt, "room"))
		}
		lots := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		memory := make([]byte, 40_000)
		for range rapid.IntRange(1, 8).Draw(rt, "parts") {
			n := rapid.IntRange(0, len(memory)).Draw(rt, "length")
			for range rapid.IntRange(0, 5).Draw(rt, "writes") {
				memory[lots.IntN(len(memory))]++
			}
			if rapid.Bool().Draw(rt, "by the agent") {
				other := stream(memory[:rapid.IntRange(0, n).Draw(rt, "other length")])
				if err := m.file.Truncate(0); err != nil {
					rt.Fatal(err)
				}
				if _, err := m.file.WriteAt(other, 0); err != nil {
					rt.Fatal(err)
				}
			}
			want := stream(memory[:n])
			if _, err := m.keep(encoder(memory[:n])); err != nil {
				rt.Fatal(err)
			}
			info, err := m.file.Stat()
			if err != nil {
				rt.Fatal(err)
			}
			got := make([]byte, info.Size())
			if _, err := m.file.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
				rt.Fatalf("%d bytes, want %d, %v", len(got), len(want), err)
			}
			if again, err := m.keep(encoder(memory[:n])); err != nil || again != 0 {
				rt.Fatalf("of the same part %d bytes had changed, %v", again, err)
			}
		}
	})
}

// Of a part in which one byte has changed a page is written, and the sum at the end.
func TestPartMemoryWritesChanges(t *testing.T) {
	m := newPartMemory(t)
	memory := make([]byte, 10<<20)
	for i := range memory {
		memory[i] = byte(i * i >> 7)
	}
	if changed, err := m.keep(encoder(memory)); err != nil || changed < int64(len(memory)/2) {
		t.Errorf("at first: %d bytes, %v", changed, err)
	}
	memory[5<<20]++
	if changed, err := m.keep(encoder(memory)); err != nil || changed == 0 || changed > 3*comparedBlock {
		t.Errorf("of one byte: %d bytes, %v", changed, err)
	}
}

// BenchmarkPartMemory keeps a part of which some has changed: what the program stands still for. As
// whole files are written is beside it.
func BenchmarkPartMemory(b *testing.B) {
	memory := make([]byte, 256<<20)
	for i := range memory {
		memory[i] = byte(i * i >> 7)
	}
	change := func(percent int) {
		for at := 0; at < len(memory); at += 100 * comparedBlock {
			for k := range percent {
				if page := at + k*comparedBlock; page < len(memory) {
					memory[page]++
				}
			}
		}
	}
	for _, percent := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("compare/%d%%", percent), func(b *testing.B) {
			m := newPartMemory(b)
			if _, err := m.keep(encoder(memory)); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(memory)))
			for b.Loop() {
				b.StopTimer()
				change(percent)
				b.StartTimer()
				if _, err := m.keep(encoder(memory)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("write", func(b *testing.B) {
		m := newPartMemory(b)
		b.SetBytes(int64(len(memory)))
		for b.Loop() {
			at := int64(0)
			e := encoder(memory)
			for piece := e.Next(4 << 20); piece != nil; piece = e.Next(4 << 20) {
				if _, err := m.file.WriteAt(piece, at); err != nil {
					b.Fatal(err)
				}
				at += int64(len(piece))
			}
		}
	})
}
