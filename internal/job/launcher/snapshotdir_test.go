package launcher

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// partAgent is an agent that keeps snapshots, and nothing else.
type partAgent struct {
	agent.Agent
	parts map[proto.Proc][]byte
}

func (k *partAgent) ReadPart(p proto.Proc, _ int, _ *agent.PartBlocks) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(k.parts[p])), nil
}

func (k *partAgent) WritePart(p proto.Proc, _ int, _ *agent.PartBlocks) (io.WriteCloser, error) {
	return &keptPart{partAgent: k, p: p}, nil
}

func (k *partAgent) PartDigests(proto.Proc, int) (agent.PartDigests, error) {
	return agent.PartDigests{}, nil
}

type keptPart struct {
	bytes.Buffer
	*partAgent
	p proto.Proc
}

func (w *keptPart) Close() error { w.parts[w.p] = w.Bytes(); return nil }

// twoSnapshots makes a directory with snapshots 3 and 4 of two ranks.
func twoSnapshots(t *testing.T) *snapshotDir {
	t.Helper()
	d := newSnapshotDir(t.TempDir())
	for n := rollback.Snapshot(3); n <= 4; n++ {
		k := &partAgent{parts: map[proto.Proc][]byte{0: []byte("zero"), 1: bytes.Repeat([]byte("one"), int(n))}}
		for p := range proto.Proc(2) {
			if err := d.keep(n, proto.Rank(p), 0, partPlace{k, p}); err != nil {
				t.Fatal(err)
			}
		}
		if found, _, _ := d.find(); found.number() == n {
			t.Fatalf("snapshot %d counts before it is complete", n)
		}
		if err := d.complete(manifest{Number: uint64(n), Ranks: 2, Output: [][2]int64{{int64(n), 0}, {0, 1}}}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestSnapshotsOnDisk(t *testing.T) {
	d := twoSnapshots(t)
	found, damaged, err := d.find()
	if err != nil || len(damaged) > 0 || found.Number != 4 || found.Output[0][0] != 4 {
		t.Fatalf("%+v, %v, %v", found, damaged, err)
	}
	k := &partAgent{parts: map[proto.Proc][]byte{}}
	if err := d.restore(4, 1, 0, partPlace{k, 1}); err != nil || string(k.parts[1]) != "oneoneoneone" {
		t.Errorf("%q, %v", k.parts[1], err)
	}
	d.discard(4)
	if found, _, _ := d.find(); found.Number != 3 {
		t.Errorf("found %d", found.Number)
	}
	d.clear()
	if _, _, err := d.find(); err == nil || len(d.numbers()) > 0 {
		t.Error("something is left")
	}
}

// slowAgent gives its part when it is released.
type slowAgent struct {
	partAgent
	asked, released chan bool
}

func (k *slowAgent) ReadPart(p proto.Proc, slot int, b *agent.PartBlocks) (io.ReadCloser, error) {
	close(k.asked)
	<-k.released
	return k.partAgent.ReadPart(p, slot, b)
}

// A part that is being written when the job ends isn't left behind.
func TestSnapshotsEndWithTheirJob(t *testing.T) {
	d := twoSnapshots(t)
	k := &slowAgent{partAgent{parts: map[proto.Proc][]byte{0: []byte("zero")}}, make(chan bool), make(chan bool)}
	kept, cleared := make(chan error), make(chan bool)
	go func() { kept <- d.keep(5, 0, 0, partPlace{k, 0}) }()
	<-k.asked
	go func() { d.clear(); close(cleared) }()
	for d.begin() { // until clear has begun
		d.writers.Done()
		time.Sleep(time.Millisecond)
	}
	close(k.released)
	if err := <-kept; err != nil {
		t.Error(err)
	}
	<-cleared
	if left := d.numbers(); len(left) > 0 {
		t.Errorf("snapshots %v are left", left)
	}
	if err := d.keep(6, 0, 0, partPlace{k, 0}); !errors.Is(err, errEnded) {
		t.Errorf("a part is kept after the end: %v", err)
	}
}

// A part that is still being written when its snapshot is discarded leaves nothing behind, and its
// snapshot isn't completed. The next one is.
func TestDiscardedSnapshotLeavesNothing(t *testing.T) {
	d := twoSnapshots(t)
	before := d.numbers()
	k := &slowAgent{partAgent{parts: map[proto.Proc][]byte{0: []byte("zero")}}, make(chan bool), make(chan bool)}
	kept := make(chan error)
	go func() { kept <- d.keep(5, 0, 0, partPlace{k, 0}) }()
	<-k.asked
	d.discard(5)
	close(k.released)
	if err := <-kept; !errors.Is(err, errDiscarded) {
		t.Errorf("the part is kept: %v", err)
	}
	if err := d.complete(manifest{Number: 5, Ranks: 1, Output: make([][2]int64, 1)}); !errors.Is(err, errDiscarded) {
		t.Errorf("the snapshot is completed: %v", err)
	}
	if left := d.numbers(); !slices.Equal(left, before) {
		t.Errorf("snapshots %v are there, want %v", left, before)
	}
	if err := d.keep(6, 0, 0, partPlace{&k.partAgent, 0}); err != nil {
		t.Error(err)
	}
	if err := d.complete(manifest{Number: 6, Ranks: 1, Output: make([][2]int64, 1)}); err != nil {
		t.Error(err)
	}
}

// TestDamagedSnapshotsAreRefused damages the newer snapshot in all ways that a disk may.
func TestDamagedSnapshotsAreRefused(t *testing.T) {
	for name, damage := range map[string]struct {
		do  func(dir string) error
		say string // empty: nothing is said of a snapshot that was never complete
	}{
		"a bit": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "rank-1"), []byte("oneoneonEone"), 0o666)
		}, "rank 1: the checksum"},
		"short": {func(dir string) error { return os.Truncate(filepath.Join(dir, "rank-0"), 3) }, "rank 0: its part has 3 bytes, not 4"},
		"gone":  {func(dir string) error { return os.Remove(filepath.Join(dir, "rank-0")) }, "rank 0: open"},
		"manifest": {func(dir string) error {
			b, _ := os.ReadFile(filepath.Join(dir, manifestName))
			return os.WriteFile(filepath.Join(dir, manifestName), bytes.Replace(b, []byte("12"), []byte("13"), 1), 0o666)
		}, "its manifest is damaged"},
		"cut":        {func(dir string) error { return os.Truncate(filepath.Join(dir, manifestName), 20) }, "its manifest can't be read"},
		"incomplete": {func(dir string) error { return os.Remove(filepath.Join(dir, manifestName)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := twoSnapshots(t)
			if err := damage.do(d.of(4)); err != nil {
				t.Fatal(err)
			}
			found, damaged, err := d.find()
			if err != nil || found.Number != 3 || !strings.Contains(strings.Join(damaged, ""), damage.say) || (damage.say == "") != (len(damaged) == 0) {
				t.Errorf("%+v, %q, %v", found, damaged, err)
			}
		})
	}
}

func FuzzManifest(f *testing.F) {
	b, _ := manifest{Number: 1, Ranks: 1, Output: make([][2]int64, 1), Parts: make([]filePart, 1)}.encode()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decodeManifest(b); err == nil && (m.Ranks != len(m.Parts) || m.Number == 0) {
			t.Errorf("%+v", m)
		}
	})
}
