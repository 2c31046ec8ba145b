package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// Snapshots on disk, for a job that ends with its launcher or loses two hosts:
//
//	DIR/snapshot-7/rank-0 …   a part each
//	DIR/snapshot-7/manifest   their lengths and checksums; it is written last
//
// Each file is written under another name, synchronised and renamed. A directory without a manifest
// is no snapshot. The last two are kept, so that one is left if the other is damaged.

// manifestName is the file that makes a directory a snapshot.
const manifestName = "manifest"

// manifest describes a snapshot on disk.
type manifest struct {
	Number  uint64     `json:"number"`
	Ranks   int        `json:"ranks"`
	Command []string   `json:"command"`
	Output  [][2]int64 `json:"output"` // of each rank: how much it had written to stdout and stderr
	Parts   []filePart `json:"parts"`  // by rank
	Sum     uint32     `json:"sum"`    // of the manifest without it
}

type filePart struct {
	Bytes int64  `json:"bytes"`
	Sum   uint32 `json:"sum"` // CRC-32C
}

// number is the snapshot's; nil is the beginning of a program.
func (m *manifest) number() rollback.Snapshot {
	if m == nil {
		return rollback.Beginning
	}
	return rollback.Snapshot(m.Number)
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// encode gives the bytes of a manifest, with its sum.
func (m manifest) encode() ([]byte, error) {
	m.Sum = 0
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	m.Sum = crc32.Checksum(b, castagnoli())
	return json.MarshalIndent(m, "", " ")
}

// decodeManifest reads a manifest.
func decodeManifest(b []byte) (*manifest, error) {
	m := new(manifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("its manifest can't be read: %w", err)
	}
	plain := *m
	plain.Sum = 0
	again, err := json.Marshal(plain)
	switch {
	case err != nil:
		return nil, err
	case crc32.Checksum(again, castagnoli()) != m.Sum:
		return nil, errors.New("its manifest is damaged")
	case m.Number == 0 || m.Ranks != len(m.Parts) || m.Ranks != len(m.Output):
		return nil, errors.New("its manifest makes no sense")
	}
	return m, nil
}

// snapshotDir is a directory of snapshots. The methods of nil do nothing.
type snapshotDir struct {
	path string

	mu      sync.Mutex
	ended   bool                                          // clear was called
	writers sync.WaitGroup                                // writes under way
	parts   map[rollback.Snapshot]map[proto.Rank]filePart // that were written, and aren't in a manifest yet
	// discarded is the last snapshot that isn't to be. A part of it may still be being written.
	// Numbers ascend, and there is one at a time, so no part of an earlier one is wanted either.
	discarded rollback.Snapshot
}

// errDiscarded is the error of a write for a snapshot that isn't to be any more.
var errDiscarded = errors.New("the snapshot was discarded")

func newSnapshotDir(path string) *snapshotDir {
	return &snapshotDir{path: path, parts: map[rollback.Snapshot]map[proto.Rank]filePart{}}
}

func (d *snapshotDir) of(n rollback.Snapshot) string {
	return filepath.Join(d.path, fmt.Sprintf("snapshot-%d", n))
}

func rankFile(r proto.Rank) string { return fmt.Sprintf("rank-%d", r) }

// begin begins a write, which the caller ends, unless the snapshots were cleared: what is written
// later would stay.
func (d *snapshotDir) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return false
	}
	d.writers.Add(1)
	return true
}

// unwanted says whether a snapshot was discarded.
func (d *snapshotDir) unwanted(n rollback.Snapshot) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return n <= d.discarded
}

// keep writes a part that an agent has. If the snapshot is discarded meanwhile nothing is left.
func (d *snapshotDir) keep(n rollback.Snapshot, rank proto.Rank, slot int, from partPlace) error {
	if !d.begin() {
		return errEnded
	}
	defer d.writers.Done()
	err := d.write(n, rank, slot, from)
	if d.unwanted(n) {
		d.remove(n)
		return errDiscarded
	}
	return err
}

func (d *snapshotDir) write(n rollback.Snapshot, rank proto.Rank, slot int, from partPlace) error {
	in, err := from.ReadPart(from.proc, slot, nil)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(d.of(n), 0o777); err != nil {
		return err
	}
	sum := crc32.New(castagnoli())
	length := int64(0)
	if err := writeFile(filepath.Join(d.of(n), rankFile(rank)), func(w io.Writer) (err error) {
		length, err = io.Copy(io.MultiWriter(w, sum), in)
		return err
	}); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.parts[n] == nil {
		d.parts[n] = map[proto.Rank]filePart{}
	}
	d.parts[n][rank] = filePart{length, sum.Sum32()}
	return nil
}

// complete makes a snapshot of the parts that were written.
func (d *snapshotDir) complete(m manifest) error {
	if !d.begin() {
		return errEnded
	}
	defer d.writers.Done()
	n := rollback.Snapshot(m.Number)
	d.mu.Lock()
	if n <= d.discarded {
		d.mu.Unlock()
		return errDiscarded
	}
	for rank := range proto.Rank(m.Ranks) {
		m.Parts = append(m.Parts, d.parts[n][rank])
	}
	delete(d.parts, n)
	d.mu.Unlock()
	b, err := m.encode()
	if err != nil {
		return err
	}
	if err := syncDir(d.of(n)); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(d.of(n), manifestName), func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return err
	}
	return errors.Join(syncDir(d.of(n)), syncDir(d.path))
}

// restore gives a part to an agent.
func (d *snapshotDir) restore(n rollback.Snapshot, rank proto.Rank, slot int, to partPlace) error {
	in, err := os.Open(filepath.Join(d.of(n), rankFile(rank)))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.WritePart(to.proc, slot, nil)
	if err != nil {
		return err
	}
	return copyAll(out, in)
}

// copyAll copies all and closes what it was copied to.
func copyAll(out io.WriteCloser, in io.Reader) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 1<<20))
	return errors.Join(err, out.Close())
}

// commit removes all but the last two snapshots, of which n is one.
func (d *snapshotDir) commit(n rollback.Snapshot) {
	if d == nil {
		return
	}
	go func() {
		all := d.numbers()
		for len(all) > 0 && all[len(all)-1] > n {
			all = all[:len(all)-1]
		}
		for _, old := range all[:max(0, len(all)-2)] {
			d.remove(old)
		}
	}()
}

// discard removes a snapshot that isn't to be.
func (d *snapshotDir) discard(n rollback.Snapshot) {
	if d == nil {
		return
	}
	d.mu.Lock()
	delete(d.parts, n)
	d.discarded = n
	d.mu.Unlock()
	d.remove(n)
}

// remove removes a snapshot. Without its manifest what may be left of it is none.
func (d *snapshotDir) remove(n rollback.Snapshot) {
	os.Remove(filepath.Join(d.of(n), manifestName))
	os.RemoveAll(d.of(n))
}

// clear removes all snapshots, once writes that are under way have ended. There are none later.
func (d *snapshotDir) clear() {
	if d == nil {
		return
	}
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.writers.Wait()
	for _, n := range d.numbers() {
		d.remove(n)
	}
}

// numbers are those of all directories of snapshots, in ascending order.
func (d *snapshotDir) numbers() (all []rollback.Snapshot) {
	entries, _ := os.ReadDir(d.path)
	for _, e := range entries {
		if text, is := strings.CutPrefix(e.Name(), "snapshot-"); is {
			if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
				all = append(all, rollback.Snapshot(n))
			}
		}
	}
	slices.Sort(all)
	return all
}

// find gives the newest snapshot that is whole. damaged says what is wrong with newer ones.
func (d *snapshotDir) find() (found *manifest, damaged []string, err error) {
	for _, n := range slices.Backward(d.numbers()) {
		m, err := d.check(n)
		switch {
		case errors.Is(err, fs.ErrNotExist) && m == nil: // it was never completed
		case err != nil:
			damaged = append(damaged, fmt.Sprintf("snapshot %d in %s: %v", n, d.path, err))
		default:
			return m, damaged, nil
		}
	}
	if len(damaged) > 0 {
		return nil, damaged, fmt.Errorf("no snapshot to go on from is whole: %s", strings.Join(damaged, "; "))
	}
	return nil, nil, fmt.Errorf("%s has no snapshot to go on from", d.path)
}

// check reads a snapshot and compares all checksums.
func (d *snapshotDir) check(n rollback.Snapshot) (*manifest, error) {
	b, err := os.ReadFile(filepath.Join(d.of(n), manifestName))
	if err != nil {
		return nil, err
	}
	m, err := decodeManifest(b)
	if err != nil {
		return nil, err
	}
	if m.number() != n {
		return m, fmt.Errorf("it is that of snapshot %d", m.Number)
	}
	for rank, want := range m.Parts {
		if err := want.check(filepath.Join(d.of(n), rankFile(proto.Rank(rank)))); err != nil {
			return m, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return m, nil
}

func (p filePart) check(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := crc32.New(castagnoli())
	switch n, err := io.Copy(sum, f); {
	case err != nil:
		return err
	case n != p.Bytes:
		return fmt.Errorf("its part has %d bytes, not %d", n, p.Bytes)
	case sum.Sum32() != p.Sum:
		return fmt.Errorf("the checksum of its part is %08x, not %08x", sum.Sum32(), p.Sum)
	}
	return nil
}

// writeFile writes a file that is whole under its name, or isn't there.
func writeFile(name string, write func(w io.Writer) error) error {
	f, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	return os.Rename(f.Name(), name)
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
