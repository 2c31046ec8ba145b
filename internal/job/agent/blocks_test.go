package agent

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func memoryFile(t testing.TB, b []byte) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "test")
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return f
}

// What another host has becomes what this one has, and no more than the blocks that differ travel.
func TestChangedBlocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		some := func(label string) []byte {
			lots := rand.New(rand.NewPCG(seed, 1))
			b := make([]byte, rapid.IntRange(0, 5*partBlock).Draw(rt, label))
			for i := range b {
				b[i] = byte(lots.Uint32())
			}
			return b
		}
		here, there := some("here"), some("there")
		for range rapid.IntRange(0, 3).Draw(rt, "writes") {
			if len(here) > 0 {
				here[rapid.IntRange(0, len(here)-1).Draw(rt, "at")]++
			}
		}
		differ := 0
		for at := 0; at < len(here); at += partBlock {
			end := min(at+partBlock, len(here))
			if end > len(there) || !bytes.Equal(here[at:end], there[at:min(at+partBlock, len(there))]) {
				differ += end - at
			}
		}
		var l Local
		x, err := l.partsOf(3)
		if err != nil {
			rt.Fatal(err)
		}
		defer x.close()
		if rapid.Bool().Draw(rt, "a process has it") {
			x.given()
		}
		if _, err := x.files[1].WriteAt(there, 0); err != nil {
			rt.Fatal(err)
		}
		has, err := digest(memoryFile(t, here), int64(len(here)))
		if err != nil {
			rt.Fatal(err)
		}
		had, err := l.PartDigests(3, 1)
		if err != nil {
			rt.Fatal(err)
		}
		changed, err := DecodePartBlocks(has.Changes(had).Encode())
		if err != nil || changed.Bytes() != int64(differ) {
			rt.Fatalf("%d bytes would travel, of %d that differ, %v", changed.Bytes(), differ, err)
		}
		to, err := l.WritePart(3, 1, changed)
		if err != nil {
			rt.Fatal(err)
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{&blockReader{from: memoryFile(t, here), blocks: changed}},
			make([]byte, rapid.IntRange(1, 2*partBlock).Draw(rt, "piece")))
		if err = errors.Join(err, to.Close()); err != nil || n != int64(differ) {
			rt.Fatalf("%d bytes have travelled, %v", n, err)
		}
		from, err := l.ReadPart(3, 1, nil)
		if err != nil {
			rt.Fatal(err)
		}
		if got, err := io.ReadAll(from); err != nil || !bytes.Equal(got, here) {
			rt.Fatalf("%d bytes, want %d, %v", len(got), len(here), err)
		}
		if now, err := l.PartDigests(3, 1); err != nil || !now.Equal(has) {
			rt.Fatalf("digests differ, %v", err)
		}
	})
}

// The end of a copy says whether all has come.
func TestBlocksLeft(t *testing.T) {
	var l Local
	d, err := digest(memoryFile(t, make([]byte, 2*partBlock)), 2*partBlock)
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{0, 10, partBlock, 2*partBlock - 1, 2*partBlock + 1} {
		to, err := l.WritePart(0, 0, d.Changes(PartDigests{}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = to.Write(make([]byte, length))
		if err = errors.Join(err, to.Close()); !errors.Is(err, errBlocksLeft) {
			t.Errorf("%d bytes of %d: %v", length, 2*partBlock, err)
		}
	}
}

// Bytes from another host are blocks, or digests, or refused.
func FuzzPartBlocks(f *testing.F) {
	f.Add([]byte{})
	f.Add((&PartBlocks{Length: 3 * partBlock, bits: []byte{5}}).Encode())
	f.Add(PartDigests{Length: 5, Blocks: make([]byte, digestLength)}.Encode())
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		if some, err := DecodePartBlocks(b); err == nil && some != nil {
			if n := some.Bytes(); n < 0 || n > some.Length || !bytes.Equal(some.Encode(), b) {
				t.Errorf("%d bytes of %d", n, some.Length)
			}
		}
		if d, err := DecodePartDigests(b); err == nil {
			if !bytes.Equal(d.Encode(), b) || d.Changes(d).Bytes() != 0 || d.Changes(PartDigests{}).Bytes() != d.Length {
				t.Errorf("digests of %d bytes", d.Length)
			}
		}
	})
}

// BenchmarkDigest is what a host works for each byte that it compares with another host's.
func BenchmarkDigest(b *testing.B) {
	f := memoryFile(b, make([]byte, 64<<20))
	b.SetBytes(64 << 20)
	for b.Loop() {
		if _, err := digest(f, 64<<20); err != nil {
			b.Fatal(err)
		}
	}
}
