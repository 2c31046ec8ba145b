package launcher

import (
	"bytes"
	"fmt"
	"sync"
)

// repeatedKept bounds, in bytes, what is kept of a stream to compare it with what is written again.
const repeatedKept = 1 << 20

// repeated is a Screen that leaves out what was shown before the job went back: a byte is known by
// its rank, its stream and its offset. What is written again is compared with what was shown.
type repeated struct {
	Screen
	differs func(rank int, stderr bool, at int64) // told of the first difference of each stream

	mu      sync.Mutex
	streams [][2]stream // by rank
	began   bool
}

// stream is what is known of a stream that was shown.
type stream struct {
	shown int64  // all before is shown
	base  int64  // where kept begins
	kept  []byte // what was shown from there on, as far as there was room
	told  bool
}

func newRepeated(s Screen, ranks int) *repeated {
	return &repeated{Screen: s, streams: make([][2]stream, ranks)}
}

// Print implements Screen.
func (r *repeated) Print(rank int, stderr bool, at int64, b []byte) error {
	r.mu.Lock()
	s := &r.streams[rank][index(stderr)]
	if again := min(s.shown-at, int64(len(b))); again > 0 {
		if d := s.compare(at, b[:again]); d >= 0 && !s.told {
			s.told = true
			defer r.differs(rank, stderr, d)
		}
		at, b = at+again, b[again:]
	}
	if len(b) == 0 {
		r.mu.Unlock()
		return nil
	}
	s.shown = at + int64(len(b))
	if at == s.base+int64(len(s.kept)) && len(s.kept) < repeatedKept {
		s.kept = append(s.kept, b[:min(len(b), repeatedKept-len(s.kept))]...)
	}
	r.mu.Unlock()
	return r.Screen.Print(rank, stderr, at, b)
}

// compare gives the offset of the first byte that isn't as it was shown, -1 if all are, as far as
// that is known.
func (s *stream) compare(at int64, b []byte) int64 {
	from := max(at, s.base)
	to := min(at+int64(len(b)), s.base+int64(len(s.kept)))
	if from >= to {
		return -1
	}
	was, is := s.kept[from-s.base:to-s.base], b[from-at:to-at]
	if bytes.Equal(was, is) {
		return -1
	}
	i := 0
	for was[i] == is[i] {
		i++
	}
	return from + int64(i)
}

// keepFrom says that nothing before these offsets is written again.
func (r *repeated) keepFrom(output [][2]int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rank := range r.streams {
		for i := range r.streams[rank] {
			s := &r.streams[rank][i]
			n := min(max(0, output[rank][i]-s.base), int64(len(s.kept)))
			s.kept = append([]byte(nil), s.kept[n:]...)
			s.base += n
			if s.base < output[rank][i] && len(s.kept) == 0 { // there was no room for what came before
				s.base = output[rank][i]
			}
		}
	}
}

// begin says where the output of a job begins that goes on from another one's snapshot.
func (r *repeated) begin(output [][2]int64) {
	for rank := range r.streams {
		for i := range r.streams[rank] {
			r.streams[rank][i] = stream{shown: output[rank][i], base: output[rank][i]}
		}
	}
}

// Ended implements Screen. Nothing is passed on: a rank may write again.
func (r *repeated) Ended(int) {}

// end says that no rank writes any more.
func (r *repeated) end() {
	for rank := range r.streams {
		r.Screen.Ended(rank)
	}
}

// OnShown implements Screen.
func (r *repeated) OnShown(f func(rank int, stderr bool, n int64)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.began {
		r.began = true
		r.Screen.OnShown(func(int, bool, int64) {}) // the agents keep nothing that waits for it
	}
}

// outputDiffers warns of output that isn't repeated as it was.
func (j *job) outputDiffers(rank int, stderr bool, at int64) {
	name := map[bool]string{false: "stdout", true: "stderr"}[stderr]
	j.post(func() {
		j.warn(fmt.Sprintf("rank %d writes other bytes to %s than before the job went back, first byte %d; those from before were shown", rank, name, at))
	})
}
