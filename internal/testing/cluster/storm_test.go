package cluster_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/testing/cluster"
	"banyan/internal/testing/cluster/verdict"
)

var (
	stormDeaths = flag.Int("deaths", 100, "how many host deaths a storm has")
	stormFirst  = flag.Int("first", 0, "the number of a storm's first job: a storm of many deaths can be played in pieces")
	stormSeed   = flag.Uint64("seed", 1, "of a storm: which hosts die, how, and when they return")
)

// stormLimit ends a storm that takes too long. A job that runs then may end first.
const stormLimit = 15 * time.Minute

// stormy are the programs of a storm: both have safe points all the time.
var stormy = []namedProgram{
	{"heat", []string{"stdbuf", "-oL", "bin/heat", "64", "1e-30", "10000"}},
	{"cg", []string{"bin/cg", "-solves", "5", "examples/cg/data/bcsstk16.mtx.gz"}},
}

// Hosts die, at times several at once, and return, and are added again by "banyan hosts add", in
// job after job. Each job ends with the output of an undisturbed run, or says that a rank is lost,
// and faults had hit the hosts of all its replicas. Nothing remains.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("some minutes")
	}
	const n = 6
	c, err := cluster.Up(named("storm"), n, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Down()
	deaths, ends := 0, map[string]int{}
	begun := time.Now()
	for number := *stormFirst; deaths < *stormDeaths && time.Since(begun) < stormLimit && !t.Failed(); number++ {
		p := stormy[number%len(stormy)]
		t.Run(fmt.Sprintf("%d %s", number, p.name), func(t *testing.T) {
			s := &storm{t: t, c: c, size: n, most: *stormDeaths - deaths, program: p.argv, rng: rand.New(rand.NewPCG(*stormSeed, uint64(number)))}
			ends[s.run()]++
			deaths += s.deaths
		})
	}
	t.Logf("%d host deaths in %v, seed %d: %v", deaths, time.Since(begun).Round(time.Second), *stormSeed, ends)
	if deaths < *stormDeaths && !t.Failed() {
		t.Errorf("%d host deaths, not %d, in %v", deaths, *stormDeaths, stormLimit)
	}
}

// storm is one job in a storm.
type storm struct {
	t       *testing.T
	c       *cluster.Cluster
	size    int // hosts
	most    int // deaths
	program []string
	rng     *rand.Rand

	job    *running
	deaths int
	hits   []verdict.Hit
	mu     sync.Mutex
	named  []string // by host: as the job calls it; empty while it is down, or hasn't been added yet
	wait   sync.WaitGroup
}

// The ways to die. A host that is cut off or stopped for longer than its agent's lease, with its
// margin, returns without its processes.
var ways = []struct {
	die, back    string
	least, spare time.Duration // until it returns
}{
	{"power %d", "boot %d", 200 * time.Millisecond, 4 * time.Second},
	{"power %d", "boot %d", 200 * time.Millisecond, 4 * time.Second},
	{"on %d pkill -KILL -x banyan || true", "true", 0, time.Second},
	{"unplug %d", "plug %d", 7 * time.Second, 2 * time.Second},
	{"freeze %d", "thaw %d", 7 * time.Second, 2 * time.Second},
}

func (s *storm) run() (outcome string) {
	t := s.t
	path := filepath.Join(s.c.Root, "bin", fmt.Sprintf("storm-%d.json", os.Getpid()))
	defer os.Remove(path)
	want := undisturbed(t, s.c, s.program)
	for k := range s.size {
		s.named = append(s.named, fmt.Sprintf("h%d", k))
	}
	most := min(s.most, 3+s.rng.IntN(8)) // of this job
	g := slowly(t, s.c)
	s.job = start(t, s.c, command([]string{"bin/banyan", "run", "--host", strings.Join(s.named, ","), "--spare-hosts", "2",
		"-n", fmt.Sprint(ranks), "--replicas", "2", "--heal", "--report", path}, g.program(s.program))...)
	first, _, _ := strings.Cut(want, "\n")
	s.job.await(first, 1)
	for s.deaths < most && s.pause(s.between(300*time.Millisecond, 8*time.Second)) {
		s.strike(most - s.deaths)
	}
	s.wait.Wait() // all have returned, or the job has ended
	g.open()
	code := s.job.end()
	report := &verdict.Report{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, report)
	}
	if err != nil {
		t.Fatalf("the report: %v\n%s", err, text)
	}
	ended := &verdict.Ended{Code: code, Printed: s.job.printed(), Want: want, Report: report, Hits: s.hits}
	if err := ended.Judge(); err != nil {
		t.Errorf("%v\nfaults: %v\nreport: %s", err, s.told(report), text)
	}
	t.Logf("%d host deaths, %d replacements: %s", s.deaths, len(report.Heals), report.Outcome)
	nothingLeft(t, s.c)
	return report.Outcome
}

// strike has some hosts die, in one way, and return later.
func (s *storm) strike(most int) {
	s.mu.Lock()
	var up []int
	for k, name := range s.named {
		if name != "" {
			up = append(up, k)
		}
	}
	several := 1
	if x := s.rng.IntN(20); x == 0 {
		several = 3
	} else if x < 4 {
		several = 2
	}
	way := ways[s.rng.IntN(len(ways))]
	back := s.between(way.least, way.spare)
	s.rng.Shuffle(len(up), func(i, k int) { up[i], up[k] = up[k], up[i] })
	up = up[:min(several, len(up), most)]
	for _, k := range up {
		s.hits = append(s.hits, verdict.Hit{Host: s.named[k], At: time.Now()})
		s.named[k] = ""
	}
	s.mu.Unlock()
	s.deaths += len(up)
	for _, k := range up {
		s.c.Fault(s.t, fmt.Sprintf(way.die, k))
		s.wait.Go(func() { s.comesBack(k, way.back, back) })
	}
}

// comesBack has a host return, whether the job still runs or not, and adds it to the job.
func (s *storm) comesBack(k int, how string, after time.Duration) {
	s.pause(after)
	if how != "true" {
		if out, err := s.c.Script(s.t.Context(), "fault", fmt.Sprintf(how, k)).CombinedOutput(); err != nil {
			s.t.Errorf("h%d doesn't return: %v: %s", k, err, out)
			return
		}
	}
	for {
		out, err := s.c.Try(s.t.Context(), "timeout", "60", "bin/banyan", "hosts", "add", filepath.Base(s.program[0]), fmt.Sprintf("h%d", k))
		if name, ok := strings.CutPrefix(strings.TrimSpace(out), "added: "); ok && err == nil {
			s.mu.Lock()
			s.named[k] = name
			s.mu.Unlock()
			return
		}
		if !s.pause(500 * time.Millisecond) {
			return
		}
		s.t.Logf("h%d isn't added yet: %v: %s", k, err, out)
	}
}

// pause waits, and says whether the job still runs.
func (s *storm) pause(d time.Duration) bool {
	select {
	case <-s.job.ended:
		return false
	case <-time.After(d):
		return true
	}
}

// between draws a time.
func (s *storm) between(least, more time.Duration) time.Duration {
	return least + time.Duration(s.rng.Int64N(int64(more)))
}

// told is which host was hit when, for people.
func (s *storm) told(r *verdict.Report) (all []string) {
	for _, h := range s.hits {
		all = append(all, fmt.Sprintf("%s %.1f s", h.Host, h.At.Sub(r.Start).Seconds()))
	}
	return all
}
