package console

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/launcher/output"
)

// sidecarSuffix is that of the file beside a File, with what that holds of which job.
const sidecarSuffix = ".banyan"

// File is where a console writes a job's stdout so that every byte stands there once, even if the
// console is killed at any moment and another one goes on, with this launcher or the next.
//
// A sidecar (sidecar.go) says which positions of the ranks' streams the file's length means. Before
// a piece is written the sidecar says where, and what will have been shown then. So what a console
// leaves is one of three: the piece isn't mentioned, and not there; it is mentioned and there; or
// it is mentioned and not all of it is there: then what there is of it is cut off. The launcher
// hears of a piece when it is there, and sends again what it hasn't heard of.
type File struct {
	path   string
	disk   disk
	file   *os.File
	side   *os.File // nil: nothing was written yet
	sized  int64    // how long the sidecar is
	state  fileState
	render *output.Renderer
	text   []byte // scratch
}

// lockPatience is how long OpenFile waits for another console, which was killed, to be gone.
const lockPatience = 2 * time.Second

// OpenFile opens a file, to go on with a job's stdout behind what it holds. It is made if it isn't
// there.
func OpenFile(path, job string) (*File, error) { return openFile(path, job, disk{}) }

func openFile(path, job string, d disk) (_ *File, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, disk: d, file: file}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if err := f.lock(); err != nil {
		return nil, err
	}
	if err := f.recover(job); err != nil {
		return nil, err
	}
	return f, nil
}

// lock keeps other consoles from the file as long as this process lives.
func (f *File) lock() error {
	for until := time.Now().Add(lockPatience); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(int(f.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil // or there are no locks on this file system
		}
		if time.Now().After(until) {
			return fmt.Errorf("another console writes %s, or is stopped while it does: end it", f.path)
		}
	}
}

// recover finds out what the file holds, and cuts off a piece of which not all is there.
func (f *File) recover(job string) error {
	f.state = fileState{job: job, have: make(positions)}
	var last intent
	if text, err := os.ReadFile(f.path + sidecarSuffix); err == nil {
		if s, i := readSidecar(text); s.job == job {
			f.state, last = s, i
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if last.length > 0 {
		switch end := last.at + last.length; {
		case size >= end && f.sum(last.at, last.length) == last.sum:
			f.state.apply(&last)
		case size > last.at && size <= end:
			if err := f.disk.truncate(f.file, last.at); err != nil {
				return err
			}
			size = last.at
		}
	}
	if size != f.state.at { // something else has written there, or shortened it
		f.state.at, f.state.unfinished = size, 0
	}
	return nil
}

// sum is the checksum of a part of the file.
func (f *File) sum(at, length int64) uint32 {
	h := crc32.NewIEEE()
	io.Copy(h, io.NewSectionReader(f.file, at, length)) // if it can't be read the sum is another one
	return h.Sum32()
}

// begin says how lines are labelled. It is called when the console is attached, each time.
func (f *File) begin(label bool) {
	if f.render == nil {
		f.render = output.NewRenderer(label)
		if f.state.unfinished > 0 {
			f.render.Resume(f.state.unfinished - 1 + Launcher)
		}
	}
}

// show writes the pieces of a frame. have is what was shown with them.
func (f *File) show(frame *Frame) error {
	f.text = render(f.text[:0], f.render, frame)
	if len(f.text) == 0 {
		return nil
	}
	i := intent{at: f.state.at, length: int64(len(f.text)), sum: crc32.ChecksumIEEE(f.text), have: make(positions)}
	for _, p := range frame.From {
		i.have.set(p.Source, p.At+int64(p.Length))
	}
	if source, ok := f.render.Unfinished(); ok {
		i.unfinished = source + 1 - Launcher
	}
	if f.side == nil || f.sized > maxSidecar+2*f.state.cost() {
		if err := f.snapshot(); err != nil {
			return err
		}
	}
	line := i.append(nil)
	if err := f.disk.writeAt(f.side, line, f.sized); err != nil {
		return err
	}
	f.sized += int64(len(line))
	if err := f.disk.writeAt(f.file, f.text, i.at); err != nil {
		return err
	}
	f.state.apply(&i)
	return nil
}

// snapshot begins the sidecar anew.
func (f *File) snapshot() error {
	path := f.path + sidecarSuffix
	side, err := os.OpenFile(path+"~", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	text := f.state.append(nil)
	if err = f.disk.writeAt(side, text, 0); err == nil {
		err = f.disk.rename(path+"~", path)
	}
	if err != nil {
		side.Close()
		return err
	}
	if f.side != nil {
		f.side.Close()
	}
	f.side, f.sized = side, int64(len(text))
	return nil
}

// finish removes the sidecar: the job has ended, and all of it is in the file.
func (f *File) finish() { os.Remove(f.path + sidecarSuffix) }

// Close closes the file.
func (f *File) Close() error {
	if f.side != nil {
		f.side.Close()
	}
	return f.file.Close()
}

// render appends the text of a frame's pieces.
func render(out []byte, r *output.Renderer, frame *Frame) []byte {
	rest := frame.Data
	for _, p := range frame.From {
		out = r.Append(out, p.Source, rest[:p.Length])
		rest = rest[p.Length:]
	}
	return out
}

// passed writes a stream to what has no places, in order.
type passed struct {
	w      io.Writer
	render *output.Renderer
	text   []byte // scratch
}

func (p *passed) show(frame *Frame) error {
	p.text = render(p.text[:0], p.render, frame)
	if len(p.text) == 0 {
		return nil
	}
	_, err := p.w.Write(p.text)
	return err
}
