package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"time"
)

// The end of a job that no console has shown stays in three files: NAME.out and NAME.err have what
// nobody has acknowledged, NAME.end what else there is to know. It is written last.
const (
	endSuffix = ".end"
	// KeptFor is how long the end of a job is kept.
	KeptFor = 24 * time.Hour
	// keptJobs and keptBytes bound what is kept of all jobs. The oldest go first.
	keptJobs  = 64
	keptBytes = 256 << 20
	// keptTail is what is kept of each stream if there is no space for all of it.
	keptTail = 64 << 10
)

// outputSuffixes are those of what is kept of the streams.
var outputSuffixes = [streams]string{".out", ".err"}

// end is what NAME.end holds.
type end struct {
	Info     Info   `json:"info"`
	Launcher string `json:"launcher"` // its name as consoles know it
	Label    bool   `json:"label,omitempty"`
}

// Keep writes down how the job ended, for Reopen.
func (f Folder) Keep(h *Hub, info Info) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	info.State, info.ExitCode, info.Processes = Ended, h.code, 0
	err := f.keep(h, info)
	if err == nil {
		return nil
	}
	// There may be no space: the end of the output is better than nothing.
	for s := range h.streams {
		r := &h.streams[s]
		if i := r.find(r.last-keptTail+1) - 1; i >= 0 && r.pieces[i].from > r.acked {
			note := fmt.Sprintf("banyan: %d bytes of %v couldn't be kept: %v\n", r.pieces[i].from-r.acked, Stream(s), err)
			r.ack(r.pieces[i].from, nil)
			h.streams[Stderr].append(Launcher, h.said[Stderr], []byte(note))
			h.said[Stderr] += int64(len(note))
		}
	}
	return f.keep(h, info)
}

// keep is Keep. It leaves all files or none. The lock is held.
func (f Folder) keep(h *Hub, info Info) (err error) {
	defer func() {
		if err != nil {
			f.Forget(info.Name)
		}
	}()
	for s := range h.streams {
		if err := f.write(info.Name, outputSuffixes[s], h.streams[s].rest()); err != nil {
			return err
		}
	}
	text, err := json.Marshal(end{Info: info, Launcher: h.name, Label: h.label})
	if err != nil {
		return err
	}
	return f.write(info.Name, endSuffix, text)
}

// write writes a file, all of it or nothing.
func (f Folder) write(name, suffix string, b []byte) error {
	path := f.file(name, suffix)
	if err := os.WriteFile(path+"~", b, 0o600); err != nil {
		os.Remove(path + "~")
		return err
	}
	return os.Rename(path+"~", path)
}

// Forget removes what is kept of a job.
func (f Folder) Forget(name string) {
	for _, suffix := range append([]string{endSuffix}, outputSuffixes[:]...) {
		os.Remove(f.file(name, suffix))
		os.Remove(f.file(name, suffix) + "~")
	}
}

// readEnd reads how a job ended.
func (f Folder) readEnd(name string) (e end, err error) {
	text, err := os.ReadFile(f.file(name, endSuffix))
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return e, fmt.Errorf("%s: %w", f.file(name, endSuffix), err)
	}
	return e, nil
}

// Reopen returns a connection to a job that has ended, if its end is kept. When a console has
// shown that, and done says so, the files are removed.
func (f Folder) Reopen(name string) (conn net.Conn, done func(), err error) {
	e, err := f.readEnd(name)
	if err != nil {
		return nil, nil, err
	}
	h := NewHub()
	h.started, h.ended, h.code = true, true, e.Info.ExitCode
	for s := range h.streams {
		b, err := os.ReadFile(f.file(name, outputSuffixes[s]))
		if err != nil {
			return nil, nil, err
		}
		if err := h.streams[s].restore(b); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.file(name, outputSuffixes[s]), err)
		}
	}
	h.name, h.label = e.Launcher, e.Label
	here, there, err := pair()
	if err != nil {
		return nil, nil, err
	}
	s := NewServer(e.Info, h)
	go s.Serve(there)
	return here, func() {
		if h.End(h.code) {
			f.Forget(name)
		}
		s.Close()
	}, nil
}

// ends describes the jobs whose ends are kept.
func (f Folder) ends() (all []Info) {
	for _, name := range f.names(endSuffix) {
		if e, err := f.readEnd(name); err == nil {
			all = append(all, e.Info)
		}
	}
	return all
}

// sweepEnds removes what was kept long enough, and the oldest of what is too much.
func (f Folder) sweepEnds(now time.Time) {
	type kept struct {
		name  string
		at    time.Time
		bytes int64
	}
	var all []kept
	for _, name := range f.names(endSuffix) {
		info, err := os.Lstat(f.file(name, endSuffix))
		if err != nil {
			continue
		}
		k := kept{name, info.ModTime(), info.Size()}
		for _, suffix := range outputSuffixes {
			if info, err := os.Lstat(f.file(name, suffix)); err == nil {
				k.bytes += info.Size()
			}
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kept) int { return b.at.Compare(a.at) }) // the youngest first
	total := int64(0)
	for i, k := range all {
		total += k.bytes
		if now.Sub(k.at) > KeptFor || i >= keptJobs || total > keptBytes {
			f.Forget(k.name)
		}
	}
}

// seenPause is how often AwaitSeen looks.
const seenPause = 100 * time.Millisecond

// AwaitSeen waits until a console has shown the end of a job that is kept. It returns false if none
// has within limit.
func (f Folder) AwaitSeen(name string, limit time.Duration) bool {
	for until := time.Now().Add(limit); f.Kept(name); time.Sleep(seenPause) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

// Kept says whether the end of a job is kept.
func (f Folder) Kept(name string) bool {
	_, err := os.Lstat(f.file(name, endSuffix))
	return !errors.Is(err, fs.ErrNotExist)
}
