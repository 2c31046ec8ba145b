package snapshots

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// block is what is compressed at a time: as much as travels of a part by itself.
const block = 64 << 10

// codecs are what could compress a snapshot while its program computes.
var codecs = []struct {
	name  string
	codec func(b *testing.B) func(to, block []byte) []byte
}{
	{"s2", func(*testing.B) func(to, block []byte) []byte { return s2.Encode }},
	{"zstd", func(b *testing.B) func(to, block []byte) []byte {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { e.Close() })
		return func(to, block []byte) []byte { return e.EncodeAll(block, to[:0]) }
	}},
}

// BenchmarkCompression compresses snapshots of programs, in blocks. kept_% is what is left;
// pays_below_MB/s is how fast a link or a disk may be at most so that a snapshot is there earlier,
// if a thread compresses and sends block by block. bin has what make build has made.
func BenchmarkCompression(b *testing.B) {
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		b.Fatal(err)
	}
	root := filepath.Dir(bin)
	dir := b.TempDir()
	heat, err := exec.Command(filepath.Join(bin, "mpicc"), "-O2", "-o", filepath.Join(dir, "heat"), filepath.Join(root, "examples/heat/heat.c"), "-lm").CombinedOutput()
	if err != nil {
		b.Skipf("there is no mpicc in bin (make build): %v %s", err, heat)
	}
	for _, p := range []struct {
		name string
		runs time.Duration
		argv []string
	}{
		{"heat, nearly all cold", 3 * time.Second, []string{filepath.Join(dir, "heat"), "1500", "1e-300", "10000000"}},
		{"heat, warm all over", 12 * time.Second, []string{filepath.Join(dir, "heat"), "400", "1e-300", "10000000"}},
	} {
		parts := snapshotOf(b, filepath.Join(bin, "banyan"), filepath.Join(dir, p.name), p.runs, p.argv)
		for _, c := range codecs {
			b.Run(fmt.Sprintf("%s/%s", p.name, c.name), func(b *testing.B) { compress(b, parts, c.codec(b)) })
		}
	}
}

// snapshotOf runs a program for some time, and reads the last snapshot that it has left on disk.
func snapshotOf(b *testing.B, banyan, dir string, runs time.Duration, argv []string) (parts [][]byte) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), runs)
	defer cancel()
	cmd := exec.CommandContext(ctx, banyan, slices.Concat([]string{"run", "-n", "2", "--rollback", "--snapshot-every", "1s", "--snapshot-dir", dir}, argv)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err == nil || ctx.Err() == nil {
		b.Fatalf("%s has ended by itself: %v\n%s", argv[0], err, out)
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "*", "manifest"))
	if err != nil || len(manifests) == 0 {
		b.Fatalf("%s has left no snapshot: %v", argv[0], err)
	}
	for rank := range 2 {
		part, err := os.ReadFile(filepath.Join(filepath.Dir(manifests[len(manifests)-1]), fmt.Sprintf("rank-%d", rank)))
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, part)
	}
	return parts
}

// compress compresses all parts, again and again.
func compress(b *testing.B, parts [][]byte, with func(to, block []byte) []byte) {
	to := make([]byte, 0, 2*block)
	all, left := 0, 0
	for _, p := range parts {
		all += len(p)
	}
	b.SetBytes(int64(all))
	rounds := 0
	for b.Loop() {
		left = 0
		for _, p := range parts {
			for piece := range slices.Chunk(p, block) {
				left += min(len(piece), len(with(to[:cap(to)], piece)))
			}
		}
		rounds++
	}
	speed := float64(all) * float64(rounds) / b.Elapsed().Seconds() / 1e6
	b.ReportMetric(100*float64(left)/float64(all), "kept_%")
	b.ReportMetric(speed*(1-float64(left)/float64(all)), "pays_below_MB/s")
	b.ReportMetric(float64(all)/(1<<20), "state_MiB")
}
