package file

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	types "banyan/internal/mpi/datatype"
)

var (
	byteType = types.Predefined(0x247)
	intType  = types.Predefined(0x209)
)

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// randomView is a view with its first places written out.
func randomView(t *testing.T, r *rand.Rand) (v *View, places []int64) {
	t.Helper()
	var lengths, disps []int64
	at := int64(r.IntN(6))
	for range 1 + r.IntN(4) {
		n := int64(r.IntN(4))
		lengths, disps = append(lengths, n), append(disps, at)
		at += n + int64(r.IntN(3))
	}
	lengths, disps = append(lengths, 1), append(disps, at)
	ft := must[*types.Type](t)(types.Indexed(lengths, disps, byteType))
	// The extent is that of the data at least, but may begin behind the origin.
	_, length := ft.TrueExtent()
	ft = must[*types.Type](t)(types.Resized(ft, int64(r.IntN(3)), length+int64(r.IntN(4))))
	disp := int64(r.IntN(20))
	v = must[*View](t)(NewView(disp, byteType, ft))
	_, extent := ft.Extent()
	for i := range int64(8) {
		ft.Runs(func(d, size int64) bool {
			for k := range size {
				places = append(places, disp+i*extent+d+k)
			}
			return true
		})
	}
	return v, places
}

// The runs of random views are the places of their bytes, written out; so are the positions, and
// the number of bytes before each place.
func TestView(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v, places := randomView(t, r)
		skip := r.IntN(len(places))
		n := r.IntN(len(places) - skip)
		var got []int64
		runs := must[[]Run](t)(v.Runs(int64(skip), int64(n)))
		for i, run := range runs {
			if i > 0 && runs[i-1].End() >= run.Off {
				t.Fatalf("runs %v touch", runs)
			}
			for k := range run.Len {
				got = append(got, run.Off+k)
			}
		}
		if !slices.Equal(got, places[skip:skip+n]) {
			t.Fatalf("bytes %d to %d are at %v, want %v", skip, skip+n, got, places[skip:skip+n])
		}
		if at := must[int64](t)(v.Position(int64(skip))); at != places[skip] {
			t.Fatalf("byte %d is at %d, want %d", skip, at, places[skip])
		}
		end := places[0] + int64(r.IntN(int(places[len(places)-1]-places[0])))
		want := slices.IndexFunc(places, func(p int64) bool { return p >= end })
		if before := v.Before(end); before != int64(want) {
			t.Fatalf("%d bytes are before %d, want %d of %v", before, end, want, places)
		}
	}
}

func TestViewRefused(t *testing.T) {
	indexed := func(disps ...int64) *types.Type {
		return must[*types.Type](t)(types.IndexedBlock(1, disps, byteType))
	}
	three := must[*types.Type](t)(types.Contiguous(3, byteType))
	empty := must[*types.Type](t)(types.Contiguous(0, byteType))
	for name, c := range map[string]struct {
		disp            int64
		etype, filetype *types.Type
	}{
		"displacement": {-1, byteType, byteType},
		"no etype":     {0, empty, byteType},
		"odd":          {0, intType, three},
		"negative":     {0, byteType, indexed(-1, 0)},
		"descending":   {0, byteType, indexed(1, 0)},
		"twice":        {0, byteType, indexed(0, 0)},
	} {
		if _, err := NewView(c.disp, c.etype, c.filetype); !errors.Is(err, ErrView) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nothing := must[*View](t)(NewView(3, byteType, empty))
	if runs := must[[]Run](t)(nothing.Runs(5, 0)); len(runs) != 0 || nothing.Before(9) != 0 {
		t.Errorf("no bytes: %v, %d", runs, nothing.Before(9))
	}
	if _, err := nothing.Runs(0, 1); !errors.Is(err, ErrView) {
		t.Errorf("a byte of none: %v", err)
	}
	// Of instances that overlap there is only one.
	overlapping := must[*View](t)(NewView(1, byteType, must[*types.Type](t)(types.Resized(three, 0, -2))))
	if runs := must[[]Run](t)(overlapping.Runs(1, 2)); !slices.Equal(runs, []Run{{2, 2}}) || overlapping.Before(3) != 2 || overlapping.Before(100) != 3 {
		t.Errorf("one instance: %v, %d, %d", runs, overlapping.Before(3), overlapping.Before(100))
	}
	if _, err := overlapping.Runs(1, 3); !errors.Is(err, ErrView) {
		t.Errorf("two instances that overlap: %v", err)
	}
	v := must[*View](t)(NewView(8, intType, intType))
	if _, err := v.Bytes(math.MaxInt64 / 2); !errors.Is(err, ErrFar) {
		t.Errorf("a large offset: %v", err)
	}
	if _, err := v.Runs(math.MaxInt64-16, 16); !errors.Is(err, ErrFar) {
		t.Errorf("runs beyond the end: %v", err)
	}
	gaps := must[*View](t)(NewView(0, byteType, must[*types.Type](t)(types.Resized(byteType, 0, 1<<40))))
	if _, err := gaps.Runs(1<<23, 1); !errors.Is(err, ErrFar) {
		t.Errorf("a far instance: %v", err)
	}
}

// What encode writes decode reads, and nothing that decode accepts lies outside.
func FuzzDecodeRuns(f *testing.F) {
	f.Add(encode(nil, []Run{{5, 3}, {9, 1}}, 2), int64(2), int64(10))
	f.Add([]byte{0x80}, int64(0), int64(1))
	f.Fuzz(func(t *testing.T, b []byte, from, end int64) {
		if from < 0 || end < from {
			t.Skip()
		}
		runs, err := decode(b, from, end)
		if err != nil {
			return
		}
		at := from
		for _, r := range runs {
			if r.Off < at || r.Len <= 0 || r.End() > end || r.End() < r.Off {
				t.Fatalf("%v in %d to %d", runs, from, end)
			}
			at = r.End()
		}
		again, err := decode(encode(nil, runs, from), from, end)
		if err != nil || !slices.Equal(again, runs) {
			t.Fatalf("%v became %v: %v", runs, again, err)
		}
	})
}
