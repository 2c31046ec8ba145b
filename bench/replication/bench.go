package replication

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/study/ratio"
)

//go:embed programs/pingpong.c
var pingPongSource []byte

// Bench is what to measure, and with what.
type Bench struct {
	// Banyan is the command that starts jobs, and Role how to start Perform: a program and its
	// arguments.
	Banyan string
	Role   []string
	// Ranks and Replicas are those of the applications; the other programs have two ranks.
	Ranks, Replicas int
	// Rounds is how often each setting runs at most; the failover has kills instead.
	Rounds int
	// Narrow ends the rounds of an application, or of a size of the ping-pong, as soon as the
	// intervals of its overheads are no wider than that (ratio.Enough): 0.05 are 5 points. 0:
	// never.
	Narrow float64
	// Brief are settings that only the first so many rounds run. The others decide about the end.
	Brief map[Setting]int
	// Settings are those with replicas that ping-pongs and applications run in; nil: Replicated.
	Settings []Setting
	// Quick makes ping-pongs, broadcasts and the programs of Orders a twentieth as long: enough to
	// see that all works, too short to measure.
	Quick bool
	// Limit ends a job that takes longer.
	Limit time.Duration
	// Dir is where the bench may write.
	Dir string
	// Progress is called after each job, or jobs side by side. It may be nil.
	Progress func()
	// Record is called for each value that ping-pongs, applications, traffic and pauses give. It
	// may be nil.
	Record func(Sample)
	// Keep, if set, is called for all that is measured in one go, such as a round of one
	// application, with its part and name. It returns what measure returns, or what that returned
	// in an earlier run of the same bench, or nothing: then it isn't measured.
	Keep func(part, name string, measure func() ([]Sample, error)) ([]Sample, error)

	cores []int
}

// Errors of [Bench.Check].
var (
	errReplicas = errors.New("replicas: want at least 2, for with one there is nothing to compare")
	errRanks    = errors.New("ranks: want at least 2")
	errRounds   = errors.New("rounds: want at least 1")
	errLimit    = errors.New("timeout: want more than 0s")
)

// Check returns an error for what can't be measured, and finds out which cores there are.
func (b *Bench) Check() error {
	switch {
	case b.Replicas < 2:
		return errReplicas
	case b.Ranks < 2:
		return errRanks
	case b.Rounds < 1:
		return errRounds
	case b.Limit <= 0:
		return errLimit
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	b.cores = b.cores[:0]
	for core := range len(allowed) * 64 {
		if allowed.IsSet(core) {
			b.cores = append(b.cores, core)
		}
	}
	return nil
}

// Measured returns the settings that are run, of first and those after it.
func (b *Bench) Measured(first Setting) (list []Setting) {
	for s := first; s < settings; s++ {
		if s <= Beside || b.Settings == nil && s != Each || slices.Contains(b.Settings, s) {
			list = append(list, s)
		}
	}
	return list
}

// inRound are those of a round, in their order there.
func (b *Bench) inRound(first Setting, round int) []Setting {
	return ratio.InTurn(slices.DeleteFunc(b.Measured(first), func(s Setting) bool {
		rounds, brief := b.Brief[s]
		return brief && round >= rounds
	}), round)
}

// enough tells whether a row needs no more rounds. All series are of that row.
func (b *Bench) enough(first Setting, all ...*series) bool {
	if b.Narrow <= 0 {
		return false
	}
	for _, s := range b.Measured(first) {
		if _, brief := b.Brief[s]; brief || s <= Beside {
			continue
		}
		for _, x := range all {
			if !ratio.Enough(x.ratios(s), b.Narrow) {
				return false
			}
		}
	}
	return true
}

// skip reports jobs that aren't run as done.
func (b *Bench) skip(jobs int) {
	for range jobs {
		b.progress()
	}
}

func (b *Bench) progress() {
	if b.Progress != nil {
		b.Progress()
	}
}

func (b *Bench) record(s Sample) {
	if b.Record != nil {
		b.Record(s)
	}
}

// together measures values that belong together, in so many jobs, unless they are kept, and records
// them, also if there is an error.
func (b *Bench) together(part, name string, jobs int, measure func() ([]Sample, error)) ([]Sample, error) {
	var all []Sample
	var err error
	if b.Keep == nil {
		all, err = measure()
	} else {
		measured := false
		all, err = b.Keep(part, name, func() ([]Sample, error) { measured = true; return measure() })
		if !measured {
			b.skip(jobs)
		}
	}
	for _, s := range all {
		b.record(s)
	}
	return all, err
}

// Language is what the ping-pong is written in.
type Language struct {
	Name    string
	Program []string // takes the arguments DIR BYTES TURNS
}

// Languages are Go and, if mpicc isn't empty, C.
func (b *Bench) Languages(ctx context.Context, mpicc string) ([]Language, error) {
	all := []Language{{"Go", append(b.Role[:len(b.Role):len(b.Role)], rolePingPong)}}
	if mpicc == "" {
		return all, nil
	}
	program := filepath.Join(b.Dir, "pingpong")
	if err := os.WriteFile(program+".c", pingPongSource, 0o644); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, mpicc, "-O2", "-o", program, program+".c").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", mpicc, err, out)
	}
	return append([]Language{{"C", []string{program}}}, all...), nil
}
