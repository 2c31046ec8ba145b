package shm

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What was put and not released is read, in its order, wherever in the memory it lies. There is
// bounded room, and none once the reader has closed the keep.
func TestKeep(t *testing.T) {
	zero, one := newPair(t)
	rng := rand.New(rand.NewPCG(1, 1))
	var want [][]byte
	first, next := uint64(1), uint64(1)
	check := func() {
		t.Helper()
		n := first
		one.Kept.Read(func(number uint64, record []byte) {
			if number != n || number >= next || !bytes.Equal(record, want[number-first]) {
				t.Fatalf("record %d is %q, want number %d", number, record, n)
			}
			n++
		})
		if n != next {
			t.Fatalf("%d was read last, and %d kept", n-1, next-1)
		}
	}
	full := 0
	for range 20_000 {
		record := make([]byte, rng.IntN(60))
		for i := range record {
			record[i] = byte(rng.IntN(256))
		}
		if zero.Keep.Put(next, record) {
			want, next = append(want, record), next+1
		} else {
			full++
		}
		if rng.IntN(8) == 0 {
			upto := first + rng.Uint64N(next-first+1)
			zero.Keep.Release(upto - 1)
			want, first = want[upto-first:], upto
		}
		if rng.IntN(4) == 0 {
			check()
		}
	}
	if full == 0 || next < 1000 {
		t.Errorf("%d records were kept, %d times there was no room", next-1, full)
	}
	if one.Kept.Close(); zero.Keep.Put(next, nil) {
		t.Error("kept what nobody reads")
	}
	check()
	one.Keep.Put(1, []byte("the other way"))
	zero.Kept.Read(func(_ uint64, record []byte) { next = uint64(len(record)) })
	if next != 13 {
		t.Error("the other direction has nothing")
	}
}

var raceEnabled bool // by the race detector (race_test.go)

// Each record for which Put was true before Close is read after it, though both happen at once.
func TestKeepClosedMeanwhile(t *testing.T) {
	if raceEnabled {
		t.Skip("the reader copies what the writer may write over, and drops it then")
	}
	for range 200 {
		zero, one := newPair(t)
		kept := make(chan uint64)
		go func() {
			n := uint64(0)
			for zero.Keep.Put(n+1, []byte("record")) {
				n++
				zero.Keep.Release(n - min(n, 20))
			}
			kept <- n
		}()
		for range 1000 {
			one.Kept.Read(func(uint64, []byte) {})
		}
		one.Kept.Close()
		last := uint64(0)
		one.Kept.Read(func(number uint64, record []byte) {
			if last = number; string(record) != "record" {
				t.Errorf("record %d is %q", number, record)
			}
		})
		if n := <-kept; last < n {
			t.Fatalf("record %d was kept, and %d is the last that was read", n, last)
		}
	}
}

// FuzzKept: whatever a faulty writer leaves, the reader neither panics nor reads on for ever.
func FuzzKept(f *testing.F) {
	f.Add(uint64(0), uint64(9), []byte{1, 3, 'a', 'b', 'c', 2, 1, 'd'})
	f.Add(uint64(1400), uint64(1420), []byte{1, 200})
	f.Fuzz(func(t *testing.T, head, tail uint64, data []byte) {
		var a keepArea
		a.head.Store(head)
		a.tail.Store(tail)
		copy(a.data[:], data)
		n := 0
		Kept{&a}.Read(func(_ uint64, record []byte) { n += 1 + len(record) })
		if n > keepRoom {
			t.Errorf("%d bytes in %d", n, keepRoom)
		}
	})
}
