package launcher

import (
	"bytes"
	"testing"
)

// shownScreen notes what is shown of stdout of rank 0.
type shownScreen struct {
	Screen
	shown bytes.Buffer
	t     *testing.T
}

func (s *shownScreen) Print(rank int, stderr bool, at int64, b []byte) error {
	if rank != 0 || stderr || at != int64(s.shown.Len()) {
		s.t.Errorf("%q of rank %d at %d, after %d", b, rank, at, s.shown.Len())
	}
	s.shown.Write(b)
	return nil
}

// TestRepeatedOutputIsLeftOut goes back to an offset again and again.
func TestRepeatedOutputIsLeftOut(t *testing.T) {
	s := &shownScreen{t: t}
	r := newRepeated(s, 1)
	r.differs = func(_ int, _ bool, at int64) { t.Errorf("byte %d differs", at) }
	r.Print(0, false, 0, []byte("one\ntwo\n"))
	r.Print(0, false, 0, []byte("one\n")) // from the beginning
	r.Print(0, false, 4, []byte("two\nthree\n"))
	r.keepFrom([][2]int64{{8, 0}}) // a snapshot behind "two"
	r.Print(0, false, 8, []byte("th"))
	r.Print(0, false, 10, []byte("ree\nfour\n"))
	if got := s.shown.String(); got != "one\ntwo\nthree\nfour\n" {
		t.Errorf("%q was shown", got)
	}
}

func TestOtherOutputIsTold(t *testing.T) {
	s := &shownScreen{t: t}
	r := newRepeated(s, 1)
	var told []int64
	r.differs = func(_ int, _ bool, at int64) { told = append(told, at) }
	r.Print(0, false, 0, []byte("first\nsecond\n"))
	r.keepFrom([][2]int64{{6, 0}})
	r.Print(0, false, 6, []byte("sec"))
	r.Print(0, false, 9, []byte("und\nthird\n"))
	r.Print(0, false, 6, []byte("sekund\n"))
	if len(told) != 1 || told[0] != 9 {
		t.Errorf("told: %v", told)
	}
	if got := s.shown.String(); got != "first\nsecond\nthird\n" {
		t.Errorf("%q was shown", got)
	}
}

// TestComparedAsFarAsKept writes more than is kept for comparison.
func TestComparedAsFarAsKept(t *testing.T) {
	s := &shownScreen{t: t}
	r := newRepeated(s, 1)
	told := 0
	r.differs = func(int, bool, int64) { told++ }
	long := bytes.Repeat([]byte("x"), repeatedKept+100)
	r.Print(0, false, 0, long)
	long[repeatedKept+50] = 'y'
	r.Print(0, false, 0, long)
	if told != 0 || s.shown.Len() != len(long) {
		t.Errorf("told %d times, %d bytes shown", told, s.shown.Len())
	}
	r.keepFrom([][2]int64{{int64(len(long)), 0}})
	r.Print(0, false, int64(len(long)), []byte("abc"))
	r.Print(0, false, int64(len(long)), []byte("abd"))
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
