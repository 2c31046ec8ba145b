package oneworld

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/testing/explore"
)

var (
	seeds = flag.Int("seeds", 0, "number of runs of TestOneWorld, beyond those of the exploration")
	from  = flag.Uint64("from", 0, "the first seed")
	show  = flag.Bool("show", false, "play run -from and show what happens")
)

// Jobs keep their promises under faults of all kinds. What is drawn is what a seed says, so a run
// that fails is played again by "banyan sim job --seed N --log".
func TestOneWorld(t *testing.T) {
	if *show {
		Run(Settings{Seed: *from, Log: func(line string) { fmt.Println(line) }})
		return
	}
	n := 10_000
	switch {
	case *seeds > 0:
		n = *seeds
	case explore.Long():
		n = 100_000
	case testing.Short():
		n = 60
	}
	count := map[string]int{}
	var lock sync.Mutex
	var next, broken atomic.Int64
	// Runs leave much garbage and keep little: collecting it less often saves a tenth of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	var workers sync.WaitGroup
	longest := time.Duration(0)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var player Player
			for {
				seed := *from + uint64(next.Add(1)-1)
				if seed >= *from+uint64(n) || broken.Load() >= 10 {
					return
				}
				start := time.Now()
				r := player.Run(Settings{Seed: seed})
				lock.Lock()
				count[r.Outcome]++
				longest = max(longest, time.Since(start))
				lock.Unlock()
				if r.Err != nil {
					broken.Add(1)
					t.Errorf("seed %d: %v\nfaults: %v", seed, r.Err, r.Faults)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d runs: %v; the longest took %v", n, count, longest)
	if broken.Load() == 0 && (count[Finished] < n/2 || count[RankLost] == 0 || n >= 300 && count[NoMajority] == 0) {
		t.Error("the runs aren't of all kinds")
	}
}

// Runs that were broken, and are none of those that TestOneWorld draws.
func TestFound(t *testing.T) {
	for _, seed := range []uint64{
		123890,  // only a steward that died, and the witness, knew of a change of voters
		253543,  // an agent that was stopped with its host took output out of order, in the model
		174991,  // a process left before a replacement that a view had, and it wasn't prepared for
		323262,  // the witness wasn't told of a change, because a dead host might have gone on without it
		1120820, // a candidate had promised a later term, and counted its own vote for its own
		1141403, // the witness heard of a change's end from a steward alone, which died
		1002240, // a host had led a term from the ledger that a witness named, and its own was later
		1185586, // a donor's mark for a replacement of the term before was answered before its output was safe
		1422305, // the same, and the job waited
		1558509, // the answer to the steward before counted as an answer to the next one
		1507867, // the last of a view went on alone, beside a replacement that the dead had let in
		270157,  // the death of a replacement was told before the view that had it
	} {
		if r := Run(Settings{Seed: seed}); r.Err != nil {
			t.Errorf("seed %d: %v", seed, r.Err)
		}
	}
}

// The same seed gives the same run.
func TestSeed(t *testing.T) {
	var logs [2]string
	for i := range logs {
		Run(Settings{Seed: 7, Log: func(line string) { logs[i] += line + "\n" }})
	}
	if logs[0] != logs[1] || logs[0] == "" {
		t.Error("two runs of one seed differ")
	}
}

// Without faults the output is whole, nothing is started anew, and one steward leads.
func TestUndisturbed(t *testing.T) {
	for seed := range uint64(20) {
		r := Run(Settings{Seed: seed, Faults: []Fault{}})
		if r.Err != nil || r.Outcome != Finished || r.Terms != 1 || r.Views > 1 {
			t.Errorf("seed %d: %v, %d terms, %d views: %v", seed, r.Outcome, r.Terms, r.Views, r.Err)
		}
	}
}
