package console

import (
	"fmt"
	"io"
)

// inputWindow bounds the input that a console sends ahead of what the job has taken.
const inputWindow = 64 << 10

// input is what consoles have sent for the job's stdin. The hub's lock guards it.
type input struct {
	buf   []byte // come, and not taken
	come  int64
	ended bool
	// open says that nothing has come since the launcher took over: the input may begin later than
	// it wants.
	open bool
	gap  bool // it does, and nobody was told
}

// InputGap is the error of a job's stdin from a byte on which can't go back so far: what is read
// next begins at byte At.
type InputGap struct{ At int64 }

func (g InputGap) Error() string {
	return fmt.Sprintf("the input before byte %d isn't kept any more", g.At)
}

// Input is the job's stdin from a byte on, for a launcher that takes over. It is called once,
// before consoles come.
func (h *Hub) Input(from int64) io.Reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.input.come, h.input.open = from, true
	return h.Stdin()
}

// taken is how much the job has taken.
func (in *input) taken() int64 { return in.come - int64(len(in.buf)) }

// add takes a piece from an offset on. What came before is left out.
func (in *input) add(f *Frame) error {
	if in.open && f.Offset > in.come {
		in.come, in.gap = f.Offset, true
	}
	in.open = false
	again := in.come - f.Offset
	switch {
	case again < 0:
		return ErrCorrupt
	case in.ended:
		return nil
	case again < int64(len(f.Data)):
		in.buf = append(in.buf, f.Data[again:]...)
		in.come = f.Offset + int64(len(f.Data))
	}
	if len(in.buf) > 2*inputWindow {
		return ErrCorrupt
	}
	in.ended = f.End && f.Offset+int64(len(f.Data)) == in.come
	return nil
}

// hubInput is the job's stdin.
type hubInput struct{ h *Hub }

// Read implements io.Reader. It waits for a console to send something, or to end the input.
func (r hubInput) Read(b []byte) (int, error) {
	h := r.h
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.input.buf) == 0 && !h.input.ended && !h.ended && !h.input.gap {
		h.changed.Wait()
	}
	if h.input.gap {
		h.input.gap = false
		return 0, InputGap{h.input.taken()}
	}
	if len(h.input.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(b, h.input.buf)
	h.input.buf = append(h.input.buf[:0], h.input.buf[n:]...)
	h.changed.Broadcast()
	return n, nil
}
