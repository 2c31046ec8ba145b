package fault

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	plan, err := Parse("kill rank=2 replica=1 at=300ms; stop at=send:1000 rank=0;;\n kill rank=7 at=step:0 ; flip rank=3 at=send:2")
	if err != nil {
		t.Fatal(err)
	}
	got, err := plan.Resolve(8, 2)
	want := []Event{
		{Kill, 2, 1, Trigger{After, int64(300 * time.Millisecond)}},
		{Stop, 0, 0, Trigger{AtSend, 1000}},
		{Kill, 7, 0, Trigger{AtStep, 0}},
		{Flip, 3, 0, Trigger{AtSend, 2}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if empty, err := Parse(" ; \n"); err != nil || len(empty.entries) != 0 {
		t.Errorf("an empty plan gave %v, %v", empty, err)
	}
}

// Every error names the entry and its mistake.
func TestParseErrors(t *testing.T) {
	for plan, want := range map[string]string{
		"crash rank=1 at=1s":                              `"crash" is no action`,
		"kill":                                            "rank= is missing",
		"kill rank=1":                                     "at= is missing",
		"kill rank=x at=1s":                               `"x" is not a whole number`,
		"kill rank=-1 at=1s":                              `"-1" is not a whole number`,
		"kill rank=99999999999 at=1s":                     "not a whole number",
		"kill rank=1 at=soon":                             `"soon" is neither a duration`,
		"kill rank=1 at=-1s":                              "neither a duration",
		"kill rank=1 at=send:0":                           `"0" is not a whole number from 1`,
		"kill rank=1 at=send:":                            "not a whole number",
		"kill rank=1 at=round:3":                          "neither a duration",
		"kill rank=1 at=1s rank=2":                        "rank= is given twice",
		"kill rank=1 at=1s colour=red":                    "there is no setting colour=",
		"kill rank=1 at=1s now":                           `"now" is not of the form key=value`,
		"kill rank= at=1s":                                "not of the form",
		"flip rank=1 at=1s":                               "flip takes at=send:N only",
		"random within=1s":                                "count= is missing",
		"random count=0 within=1s":                        "not a whole number from 1",
		"random count=1":                                  "within= is missing",
		"random count=1 within=1s seed=x":                 "not a whole number",
		"random count=1 within=1s action=tickle":          "neither kill nor stop",
		"random count=1 within=1s rank=0":                 "there is no setting rank=",
		"kill rank=0 at=1s; kill rank=1 at=1s; stop rank": "entry 3 (stop rank)",
	} {
		if _, err := Parse(plan); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", plan, err, want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	for plan, want := range map[string]string{
		"kill rank=0 at=1s; kill rank=4 at=1s":                        "entry 2 (kill rank=4 replica=0 at=1s): rank 4 is not among 0…3",
		"stop rank=0 replica=2 at=1s":                                 "replica 2 is not among 0…1",
		"random count=5 within=1s":                                    "at most 4 of 8",
		"random count=3 within=1s; random count=2 within=1s":          "entry 2 (random count=2 within=1s seed=0): count=2 is too many",
		"random count=4 within=1s; kill rank=1 at=1s":                 "at most 3 of 8",
		"random count=1 within=1s; random count=2147483647 within=1s": "too many",
	} {
		p, err := Parse(plan)
		if err != nil {
			t.Fatal(err)
		}
		if events, err := p.Resolve(4, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", plan, events, err, want)
		}
	}
	p, _ := Parse("random count=1 within=1s")
	if _, err := p.Resolve(3, 1); err == nil {
		t.Error("without replication a random plan leaves no rank")
	}
	if _, err := p.Resolve(0, 1); err == nil {
		t.Error("a job without ranks was accepted")
	}
	p, _ = Parse("kill rank=1 replica=1 at=1s")
	if _, err := p.ResolveDegrees([]int{2, 1, 2}); err == nil || !strings.Contains(err.Error(), "replica 1 is not among 0…0") {
		t.Errorf("a replica that doesn't exist: %v", err)
	}
}

// It also does so if ranks have different numbers of replicas, and it can hit all but one of each.
func TestRandomOfDegrees(t *testing.T) {
	degrees := []int{2, 1, 4, 1}
	for seed := range 50 {
		p, err := Parse(fmt.Sprintf("random count=4 within=1s seed=%d", seed))
		if err != nil {
			t.Fatal(err)
		}
		events, err := p.ResolveDegrees(degrees)
		if err != nil {
			t.Fatal(err)
		}
		left := slices.Clone(degrees)
		hit := map[[2]int]bool{}
		for _, e := range events {
			left[e.Rank]--
			if e.Replica >= degrees[e.Rank] || hit[[2]int{e.Rank, e.Replica}] {
				t.Errorf("%v of %v", e, events)
			}
			hit[[2]int{e.Rank, e.Replica}] = true
		}
		if !slices.Equal(left, []int{1, 1, 1, 1}) {
			t.Errorf("seed %d leaves %v", seed, left)
		}
	}
}

// A random plan leaves each rank a replica, hits no process twice, keeps its bounds, and draws the
// same again.
func TestRandomLeavesEachRankAReplica(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 9).Draw(t, "ranks")
		fewest := 2 // so that there is room for one random event beside the fixed one
		if ranks == 1 {
			fewest = 3
		}
		replicas := rapid.IntRange(fewest, 4).Draw(t, "replicas")
		fixedRank := rapid.IntRange(0, ranks-1).Draw(t, "fixed rank")
		count := rapid.IntRange(1, ranks*(replicas-1)-1).Draw(t, "count")
		within := rapid.SampledFrom([]string{"1s", "7ns", "0s", "send:1", "send:50", "step:0", "step:9"}).Draw(t, "within")
		seed := rapid.IntRange(0, 1000).Draw(t, "seed")
		text := fmt.Sprintf("random count=%d within=%s seed=%d; kill rank=%d replica=1 at=1s", count, within, seed, fixedRank)
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		events, err := p.Resolve(ranks, replicas)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := p.Resolve(ranks, replicas); !reflect.DeepEqual(again, events) {
			t.Errorf("drew %v, then %v", events, again)
		}
		if len(events) != count+1 {
			t.Fatalf("%d events, want %d", len(events), count+1)
		}
		limit := p.entries[0].draw.within
		hit := make(map[[2]int]bool)
		perRank := make(map[int]int)
		for i, e := range events {
			if hit[[2]int{e.Rank, e.Replica}] {
				t.Errorf("%v hits a process twice", e)
			}
			hit[[2]int{e.Rank, e.Replica}] = true
			if perRank[e.Rank]++; perRank[e.Rank] == replicas {
				t.Errorf("no replica of rank %d is left", e.Rank)
			}
			if i < count && (e.At.Kind != limit.Kind || e.At.N > limit.N || e.At.N < 0 || e.At.Kind == AtSend && e.At.N == 0) {
				t.Errorf("%v is not within %v", e, limit)
			}
		}
	})
}

func TestRandomVariesWithSeedAndKeepsAction(t *testing.T) {
	draws := make(map[string]bool)
	for seed := range 20 {
		p, _ := Parse(fmt.Sprintf("random count=2 within=1s seed=%d action=stop", seed))
		events, err := p.Resolve(4, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Action != Stop {
				t.Errorf("seed %d drew %v", seed, e)
			}
		}
		draws[fmt.Sprint(events)] = true
	}
	if len(draws) < 15 {
		t.Errorf("20 seeds gave only %d draws", len(draws))
	}
}

func TestOwn(t *testing.T) {
	p, _ := Parse("kill rank=1 replica=1 at=send:5; kill rank=1 at=send:6; stop rank=1 replica=1 at=send:2; kill rank=1 replica=1 at=1s")
	events, err := p.Resolve(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	text := FormatOwn(events, 1, 1)
	got, err := ParseOwn(text)
	want := []Event{{Kill, 1, 1, Trigger{AtSend, 5}}, {Stop, 1, 1, Trigger{AtSend, 2}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"kill rank=1 at=1s", "random count=1 within=send:4", "nonsense"} {
		if got, err := ParseOwn(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
	if got, err := ParseOwn(""); err != nil || got != nil {
		t.Errorf("no faults gave %v, %v", got, err)
	}
}

// The process must not get past a Kill.
func TestStrike(t *testing.T) {
	if os.Getenv("FAULT_TEST_STRIKE") != "" {
		Kill.Strike()
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestStrike$")
	cmd.Env = append(os.Environ(), "FAULT_TEST_STRIKE=1")
	cmd.Run()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Errorf("the process ended with %v, want by SIGKILL", cmd.ProcessState)
	}
}

// The process must not get past a Stop before it is continued, whatever its other threads do.
func TestStrikeStops(t *testing.T) {
	if os.Getenv("FAULT_TEST_STRIKE") != "" {
		for range 4 {
			go func() {
				for {
					time.Sleep(time.Microsecond)
				}
			}()
		}
		time.Sleep(time.Millisecond)
		Stop.Strike()
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		cmd := exec.Command(self, "-test.run=^TestStrikeStops$")
		cmd.Env = append(os.Environ(), "FAULT_TEST_STRIKE=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
			t.Fatal(err)
		}
		if !status.Stopped() {
			t.Fatalf("the process went on to its end, %v", status)
		}
		cmd.Process.Signal(syscall.SIGCONT)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestFlippedChangesOneBitOfACopy(t *testing.T) {
	for n := 1; n < 70; n++ {
		data := make([]byte, n)
		wrong, flips := Flipped(data), 0
		for i, b := range wrong {
			flips += bits.OnesCount8(b ^ data[i])
		}
		if flips != 1 || !bytes.Equal(data, make([]byte, n)) {
			t.Fatalf("%d bytes: %d bits are wrong, and the original is %v", n, flips, data)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("kill rank=2 replica=1 at=300ms; stop rank=0 at=send:1000")
	f.Add("flip rank=1 replica=0 at=send:100")
	f.Add("random count=2 within=1s seed=7 action=kill\nkill rank=0 at=step:4")
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q became %q, %v", p, again, err)
		}
		p.Resolve(3, 2)
	})
}

// String is a plan that Parse reads as the same Plan.
func (p Plan) String() string {
	s := make([]string, len(p.entries))
	for i, e := range p.entries {
		s[i] = e.String()
	}
	return strings.Join(s, "; ")
}

// A job that goes back may lose any rank, and the same one again.
func TestReturning(t *testing.T) {
	p, err := Parse("kill rank=1 at=1s; random count=50 within=10s seed=3 action=kill")
	if err != nil {
		t.Fatal(err)
	}
	events, err := p.ResolveReturning([]int{1, 1, 1})
	if err != nil || len(events) != 51 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	var of [3]int
	for _, e := range events {
		of[e.Rank]++
		if e.Action != Kill || e.Replica != 0 || e.At.N > 10e9 {
			t.Errorf("%+v", e)
		}
	}
	if slices.Min(of[:]) < 5 {
		t.Errorf("by rank: %v", of)
	}
	if again, _ := p.ResolveReturning([]int{1, 1, 1}); !reflect.DeepEqual(again, events) {
		t.Error("the same plan gives other events")
	}
	if _, err := p.ResolveReturning([]int{1}); err == nil {
		t.Error("rank 1 of 1 can be killed")
	}
}
