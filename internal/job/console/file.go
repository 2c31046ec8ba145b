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
//
// A launcher that another one may follow writes its --output in the same way (lasting.go). Then the
// machine may die, too, and with it what only its memory had of the file: of all pieces since the
// last snapshot those are looked for, and what comes after the first that isn't there is cut off.
type File struct {
	path   string
	own    bool // a launcher's: see above; nobody else writes there
	disk   disk
	file   *os.File
	side   *os.File // nil: nothing was written yet
	sized  int64    // how long the sidecar is
	state  fileState
	render *output.Renderer
	text   []byte // scratch
}

// lockPatience is how long OpenFile waits for another console, which was killed, to be gone.
// ownPatience is longer than a launcher acts that doesn't know that another one follows: its lease.
const (
	lockPatience = 2 * time.Second
	ownPatience  = 8 * time.Second
)

// OpenFile opens a file, to go on with a job's stdout behind what it holds. It is made if it isn't
// there.
func OpenFile(path, job string) (*File, error) { return openFile(path, job, false, disk{}) }

func openFile(path, job string, own bool, d disk) (_ *File, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, own: own, disk: d, file: file}
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
	patience := lockPatience
	if f.own {
		patience = ownPatience
	}
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
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
	var later []intent
	known := false
	if text, err := os.ReadFile(f.path + sidecarSuffix); err == nil {
		if s, i := readSidecar(text); s.job == job {
			f.state, later, known = s, i, true
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	size, partly := info.Size(), false
	for i := range later {
		x, last := &later[i], i == len(later)-1
		end := x.at + x.length
		if !f.own && !last || size >= end && f.sum(x.at, x.length) == x.sum {
			f.state.apply(x) // it was carried out: without a power cut, or there would be no next one
			continue
		}
		partly = size > x.at && size <= end
		break
	}
	if partly || f.own && known && size > f.state.at {
		if err := f.disk.truncate(f.file, f.state.at); err != nil {
			return err
		}
		size = f.state.at
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
	if f.own { // what the snapshot says must be there
		if err := f.file.Sync(); err != nil {
			return err
		}
	}
	path := f.path + sidecarSuffix
	side, err := os.OpenFile(path+"~", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	text := f.state.append(nil)
	err = f.disk.writeAt(side, text, 0)
	if err == nil && f.own {
		err = side.Sync()
	}
	if err == nil {
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

// put writes what a source has written, from byte at of its stream on, but for what the file has.
func (f *File) put(source int, at int64, b []byte) error {
	again := min(max(0, f.state.have[source]-at), int64(len(b)))
	if b = b[again:]; len(b) == 0 {
		return nil
	}
	return f.show(&Frame{From: []From{{source, at + again, len(b)}}, Data: b})
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
