package replication

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"banyan/bench/processes"
	"banyan/internal/study/pieces"
	"banyan/internal/testing/explore"
)

// little is a plan of every part.
func little(bin string) Plan {
	p := Plan{
		Sizes: []int{8}, PingPongs: 1, Applications: []Application{{Name: "multigrid", Command: []string{filepath.Join(bin, "multigrid"), "-points", "7"}}},
		Rounds: 2, Mirrored: 1, Transports: []string{"shm"}, Kills: 1,
	}
	if explore.Long() {
		p.Sizes, p.PingPongs, p.Rounds, p.Kills = []int{1, 512, 64 << 10}, 6, 6, 4
	}
	return p
}

// measured are the samples of a plan that is carried out in a directory, and goes on there.
func measured(b *Bench, dir string, p Plan) (all []Sample, err error) {
	store, err := pieces.Open(filepath.Join(dir, "pieces"), p, "")
	if err != nil {
		return nil, err
	}
	defer store.Close()
	ctx := context.Background()
	b.Dir = filepath.Join(dir, "work")
	b.Record = func(s Sample) { all = append(all, s) }
	b.Keep = func(_, name string, measure func() ([]Sample, error)) ([]Sample, error) {
		return pieces.Once(ctx, store, name, measure)
	}
	return all, b.Carry(ctx, p, 1)
}

// TestKilled kills a bench at random moments, and lets the next go on. What was measured stays as
// it is, to the byte; nothing is measured twice, or left out; what doesn't depend on time is that
// of an undisturbed run; and no job survives its bench.
func TestKilled(t *testing.T) {
	if args := flag.Args(); len(args) == 2 { // one of the benches
		banyan := filepath.Join(args[1], "banyan")
		b := &Bench{Banyan: banyan, Role: []string{banyan, "bench", "replication-role"}, Ranks: 2, Replicas: 2, Rounds: 1, Limit: DefaultLimit}
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		if _, err := measured(b, args[0], little(args[1])); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, bin := tools(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o777); err != nil {
		t.Fatal(err)
	}
	p := little(bin)
	kept := map[string]string{}
	killed := 0
	for {
		bench := exec.Command(os.Args[0], "-test.run=^TestKilled$", "--", dir, bin)
		out := new(strings.Builder)
		bench.Stdout = out
		if err := bench.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { // kills it in the middle of what comes after some results
			more := len(kept) + 1 + rand.IntN(3)
			if processes.WaitFor(ended, time.Minute, func() bool { return len(complete(dir)) >= more }) {
				time.Sleep(rand.N(200 * time.Millisecond))
				_ = bench.Process.Kill() // it may have ended
			}
		}()
		err := bench.Wait()
		close(ended)
		if bench.ProcessState.Exited() && err != nil {
			t.Fatalf("it failed: %v\n%s", err, out)
		}
		if !processes.WaitFor(nil, time.Minute, func() bool { return len(jobsOf(t, bin)) == 0 }) {
			t.Fatalf("jobs have survived: %v", jobsOf(t, bin))
		}
		now := contents(t, dir)
		for name, content := range kept {
			if now[name] != content {
				t.Errorf("%s was measured before the kill, and is another now", name)
			}
		}
		if kept = now; err == nil {
			break
		}
		if killed++; killed > p.Steps() {
			t.Fatal("it doesn't get on")
		}
	}
	t.Logf("%d kills", killed)

	names := map[string]bool{}
	ran := 0
	b.Progress = func() { ran++ }
	samples, err := measured(b, dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if after := contents(t, dir); !maps.Equal(after, kept) {
		t.Error("what is complete was measured again")
	}
	sent := map[Setting]int{}
	for _, s := range samples {
		name := fmt.Sprint(s.Part, s.Name, s.Bytes, s.Setting, s.Round)
		if names[name] {
			t.Errorf("twice: %+v", s)
		}
		names[name] = true
		if s.Part == PartTraffic {
			sent[s.Setting] = s.Messages
		}
	}
	if len(names) != p.Steps() || ran != p.Steps() {
		t.Errorf("%d values in %d steps, want %d", len(names), ran, p.Steps())
	}
	if q := sent[Alone]; q == 0 || sent[Parallel] != 2*q || sent[Each] != 2*q || sent[Mirror] != 4*q {
		t.Errorf("messages, which don't depend on time: %v", sent)
	}
}

// jobsOf are processes of programs of a directory.
func jobsOf(t *testing.T, bin string) (all []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if path, err := os.Readlink(link); err == nil && strings.HasPrefix(path, bin+"/") { // it may be gone
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			all = append(all, pid)
		}
	}
	return all
}

// complete are the files of complete results.
func complete(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "pieces", "*.json.gz")) // the pattern is one
	return slices.DeleteFunc(files, func(path string) bool {
		return strings.Count(filepath.Base(path), ".") > 2 // a piece of one that isn't merged yet
	})
}

// contents are those of complete results.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range complete(dir) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = string(content)
	}
	return all
}
