package console

import (
	"io"
	"os"
	"time"

	"banyan/internal/job/launcher/output"
)

// lineHold is how long an unfinished line of a rank keeps the lines of other ranks waiting.
const lineHold = time.Second

// Screen shows a job's output to a hub's consoles. It is what a launcher calls its Screen.
type Screen struct {
	h     *Hub
	turns [streams]*output.Turns
	files [streams]diversion // to which a stream goes in place of consoles; nil: it doesn't
}

// diversion is where a stream goes in place of consoles.
type diversion interface {
	// Print takes what a rank has written, from byte at of its stream on.
	Print(rank int, at int64, b []byte) error
	Note(text string)
	Ended(rank int)
}

// Screen is what a launcher shows its job on. It is called before a console can attach. With label,
// consoles put the rank before each line.
// What is shown for good is what the owner has written.
func (h *Hub) Screen(label bool) *Screen {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.label = label
	s := &Screen{h: h}
	for i := range s.turns {
		s.turns[i] = output.NewTurns(lineHold)
	}
	return s
}

// Print takes what a rank has written, from byte at of its stream on.
func (s *Screen) Print(rank int, stderr bool, at int64, b []byte) (err error) {
	to := Stdout
	if stderr {
		to = Stderr
	}
	if p := s.files[to]; p != nil {
		if err = p.Print(rank, at, b); !lasts(p) {
			s.shown(rank, to, at+int64(len(b)))
		}
		return err
	}
	s.turns[to].Take(rank, b, func() { _, err = s.h.put(to, rank, at, b) })
	return err
}

// Divert has a stream go to a file of the launcher's own, in place of consoles. It is called before
// the first Print.
func (s *Screen) Divert(stream Stream, w io.Writer) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.files[stream] = newPrinted(w, s.h.label)
}

// DivertTo has a stream go to a file of the launcher's own, so that every byte of a rank stands
// there once, even if this launcher is lost and another one goes on with the file. It waits for a
// launcher that still has the file. What is no regular file is left to Divert: then file is nil. It
// is called before the first Print.
func (s *Screen) DivertTo(stream Stream, path, job string) (file *Diverted, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := openFile(path, job, true, disk{})
	if err != nil {
		return nil, err
	}
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	l := newLasting(f, s.h.label, func(source int, to int64) { s.shown(source, stream, to) })
	s.files[stream] = l
	return &Diverted{l}, nil
}

// Diverted is a file to which a stream goes.
type Diverted struct{ l *lasting }

// Close waits until all is on the disk. It is called when all has been printed.
func (d *Diverted) Close() error { return d.l.close() }

// Finish says that the job is over: no other launcher goes on with the file.
func (d *Diverted) Finish() { d.l.file.finish() }

// shown tells what is shown for good.
func (s *Screen) shown(rank int, stream Stream, to int64) {
	s.h.mu.Lock()
	shown := s.h.onShown
	s.h.mu.Unlock()
	if shown != nil {
		shown(rank, stream == Stderr, to)
	}
}

// lasts says whether a diversion tells by itself what is shown for good.
func lasts(d diversion) bool {
	_, is := d.(*lasting)
	return is
}

// Ended says that a rank writes nothing more.
func (s *Screen) Ended(rank int) {
	for i, t := range s.turns {
		t.Ended(rank)
		if p := s.files[i]; p != nil {
			p.Ended(rank)
		}
	}
}

// Note shows a message of the launcher.
func (s *Screen) Note(text string) {
	if p := s.files[Stderr]; p != nil {
		p.Note(text)
		return
	}
	s.turns[Stderr].TakeNow([]byte(text), func() { s.h.put(Stderr, Launcher, -1, []byte(text)) })
}

// OnShown has f called with how many bytes of a rank's stream were shown for good.
func (s *Screen) OnShown(f func(rank int, stderr bool, n int64)) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.h.onShown = f
}
