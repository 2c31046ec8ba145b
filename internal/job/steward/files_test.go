package steward

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/job/agent/secure"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

func newDirectory(t *testing.T) *Directory {
	t.Helper()
	d, err := MakeDirectory(t.TempDir(), secure.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func entry(writer, count uint64) *steward.Entry {
	return &steward.Entry{Writer: writer, Count: count, Message: &steward.Message{Kind: steward.Renew, From: steward.Host(writer), Number: 10*writer + count}}
}

// Many make files at the same time. Each number has one maker, who knows it, and all read the same.
func TestFilesAreMadeOnce(t *testing.T) {
	const writers, numbers = 8, 20
	d := newDirectory(t)
	var made [numbers + 1]atomic.Uint64
	var all sync.WaitGroup
	for w := range uint64(writers) {
		all.Go(func() {
			own := OpenDirectory(d.Path(), d.key)
			for n := uint64(1); n <= numbers; n++ {
				switch r, err := own.Call(&steward.FileCall{Number: n, Make: entry(w+1, n)}); {
				case err != nil:
					t.Error(err)
				case r.Outcome == steward.FileDone && !made[n].CompareAndSwap(0, w+1):
					t.Errorf("file %d has two makers", n)
				}
				if r, err := own.Call(&steward.FileCall{Number: n}); err != nil || r.Outcome != steward.FileDone {
					t.Errorf("file %d: %v, %v", n, r, err)
				}
			}
		})
	}
	all.Wait()
	for n := uint64(1); n <= numbers; n++ {
		r, err := d.Call(&steward.FileCall{Number: n})
		if err != nil || r.Entry.Writer != made[n].Load() || r.Entry.Message.Number != 10*made[n].Load()+n {
			t.Errorf("file %d says %+v, %v, and was made by %d", n, r.Entry, err, made[n].Load())
		}
	}
	left, _ := os.ReadDir(d.Path())
	if len(left) != numbers {
		t.Errorf("%d files are left", len(left))
	}
	info, err := os.Stat(d.Path())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
}

// A file system has made the link, and says that there is one already. The count of links tells.
func TestLinkMadeTwice(t *testing.T) {
	d := newDirectory(t)
	own, err := d.write("new", d.encode(1, entry(1, 1)))
	if err != nil || linked(own) {
		t.Fatal(err, "linked before")
	}
	if err := os.Link(own, d.name(1)); err != nil || !linked(own) {
		t.Fatal(err, "not linked")
	}
}

// What isn't whole, is another's, or was moved can't be read, and its number isn't free.
func TestBadFiles(t *testing.T) {
	d := newDirectory(t)
	good := d.encode(1, entry(1, 1))
	other := OpenDirectory(d.Path(), secure.NewKey())
	for name, content := range map[string][]byte{
		"empty": {}, "half": good[:len(good)/2], "a byte more": append(good[:len(good):len(good)], 0), "strange": []byte(strings.Repeat("x", 100)),
		"another number's": d.encode(2, entry(1, 1)), "another job's": other.encode(1, entry(1, 1)),
	} {
		if err := os.WriteFile(d.name(1), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := d.Call(&steward.FileCall{Number: 1}); r.Outcome != steward.FileUnknown || err == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r, _ := d.Call(&steward.FileCall{Number: 1, Make: entry(1, 2)}); r.Outcome != steward.FileExists {
			t.Errorf("%s: made: %+v", name, r)
		}
	}
	os.Remove(d.name(1))
	os.Symlink("/etc/passwd", d.name(1))
	if r, _ := d.Call(&steward.FileCall{Number: 1}); r.Outcome != steward.FileUnknown {
		t.Errorf("a symbolic link: %+v", r)
	}
	os.Remove(d.name(1))
	if r, err := d.Call(&steward.FileCall{Number: 1}); r.Outcome != steward.FileAbsent || err != nil {
		t.Errorf("no file: %+v, %v", r, err)
	}
	d.Remove()
	for _, c := range []*steward.FileCall{{Number: 1}, {Number: 1, Make: entry(1, 3)}} {
		if r, err := d.Call(c); r.Outcome != steward.FileUnknown || err == nil {
			t.Errorf("no directory: %+v, %v", r, err)
		}
	}
}

func TestCheckDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o600)
	for path, want := range map[string]string{dir: "", file: "isn't a directory", filepath.Join(dir, "none"): "make it, on a file system that all hosts"} {
		if err := CheckDirectory(path); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// stuck is a file system that hangs, or that fails.
type stuck struct {
	Files
	hang, fail atomic.Bool
	released   chan struct{}
}

func (s *stuck) Call(c *steward.FileCall) (steward.FileResult, error) {
	if s.hang.Load() {
		<-s.released
	}
	if s.fail.Load() {
		return steward.FileResult{Outcome: steward.FileUnknown}, errors.New("no space left on device")
	}
	return s.Files.Call(c)
}

// pair starts two parties with a witness that is files.
func pair(t *testing.T, files [2]Files, notes func(string)) (parties [2]*noted, drivers [2]*Driver) {
	t.Helper()
	var listeners [2]*Listener
	var hosts []steward.HostEntry
	addresses := make(map[steward.Host][]string)
	for h := range steward.Host(2) {
		l, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[h], addresses[h] = l, []string{l.Address()}
		hosts = append(hosts, steward.HostEntry{Host: h, Domain: int32(h)})
	}
	first := steward.NewLedger(hosts, nil, 2, false, steward.MaxVoters)
	key := secure.NewKey()
	for h := range steward.Host(2) {
		c := steward.Defaults(proto.Time(time.Second))
		c.Self, c.Domain = h, int32(h)
		c.Lease, c.Margin = 2*proto.Time(time.Second), proto.Time(time.Second)/2
		parties[h] = &noted{}
		drivers[h] = Start(Config{Machine: c, First: first, Key: key, Addresses: addresses, Party: parties[h], Files: files[h], Note: notes}, listeners[h])
		t.Cleanup(drivers[h].Close)
	}
	return parties, drivers
}

func (n *noted) is(f func() bool) func() bool {
	return func() bool { n.mu.Lock(); defer n.mu.Unlock(); return f() }
}

// One of two parties ends, whichever. With the directory's vote the other one leads, finds it lost,
// and ends the job alone.
func TestEitherOfTwo(t *testing.T) {
	for dead := range 2 {
		d := newDirectory(t)
		parties, drivers := pair(t, [2]Files{d, OpenDirectory(d.Path(), d.key)}, func(text string) { t.Error(text) })
		for i, p := range parties {
			await(t, "a party has a lease", p.is(func() bool { return p.until > 0 }))
			_ = i
		}
		p := parties[1-dead]
		drivers[dead].Close()
		await(t, "the other one leads", p.is(func() bool { return p.leads }))
		await(t, "the host is lost", p.is(func() bool { return len(p.lost) > 0 && p.lost[0] == steward.Host(dead) }))
		drivers[1-dead].Finish(0)
		await(t, "the end", p.is(func() bool { return p.over }))
	}
}

// A directory that hangs or fails blocks nobody: two parties go on, one is told, and Close returns.
// When one of them ends the other one doesn't lead, as long as that is so.
func TestStuckDirectory(t *testing.T) {
	d := newDirectory(t)
	first, second := &stuck{Files: d, released: make(chan struct{})}, &stuck{Files: OpenDirectory(d.Path(), d.key), released: make(chan struct{})}
	first.fail.Store(true)
	second.hang.Store(true)
	var told atomic.Value
	parties, drivers := pair(t, [2]Files{first, second}, func(text string) { told.Store(text) })
	for _, p := range parties {
		await(t, "a party has a lease", p.is(func() bool { return p.until > 0 }))
	}
	await(t, "the user is told", func() bool {
		text, _ := told.Load().(string)
		return strings.Contains(text, "doesn't vote: no space left on device")
	})
	drivers[0].Close()
	p := parties[1]
	await(t, "the lease is over", p.is(func() bool { return p.until == 0 }))
	if p.is(func() bool { return p.leads })() {
		t.Error("it leads without a vote")
	}
	drivers[1].Close() // while the call hangs
	close(second.released)
}
