package check

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// follower reads the record of a process while it is being written, in a bounded amount of memory.
type follower struct {
	path    string
	file    *os.File // nil until the file exists
	strings stringTable
	buf     []byte // read and not decoded
}

// next reads the next event. ok is false if there is none yet.
func (f *follower) next(e *Event) (ok bool, err error) {
	if f.file == nil {
		if f.file, err = os.Open(f.path); errors.Is(err, fs.ErrNotExist) {
			f.file = nil
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	for {
		n, err := f.strings.decode(f.buf, e)
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.path, err)
		}
		if n > 0 {
			f.buf = f.buf[n:]
			return true, nil
		}
		if more, err := f.read(); !more {
			return false, err
		}
	}
}

// read reads more of the file into buf.
func (f *follower) read() (more bool, err error) {
	const size = 64 << 10
	buf := make([]byte, len(f.buf), len(f.buf)+size)
	copy(buf, f.buf)
	n, err := f.file.Read(buf[len(buf):cap(buf)])
	f.buf = buf[:len(buf)+n]
	if errors.Is(err, io.EOF) {
		err = nil // the process may write more
	}
	return n > 0, err
}

// nextCall reads the next call that sends.
func (f *follower) nextCall(e *Event) (ok bool, err error) {
	for {
		if ok, err := f.next(e); !ok || e.Kind != Receive {
			return ok, err
		}
	}
}

// nextReceive reads the next receive that comes before call number limit. calls counts the calls
// that were read so far.
func (f *follower) nextReceive(e *Event, calls *int, limit int) (ok bool, err error) {
	for *calls < limit {
		ok, err := f.next(e)
		switch {
		case !ok || e.Kind == End:
			return false, err
		case e.Kind == Receive:
			return true, nil
		}
		*calls++
	}
	return false, nil
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}
