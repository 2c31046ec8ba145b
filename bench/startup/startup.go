// Package startup measures how long jobs of MPI libraries take to start, and what memory
// their processes take, by one C program (programs/startup.c) that the compiler of each builds.
//
// # Method
//
// The time of a start goes from the moment before the launcher is started until the last rank is
// past MPI_Init and a barrier. Moments divide it: when the last rank is in main, so that all
// processes are forked and have loaded the library, and when the last is past MPI_Init, in which
// they find each other by PMI. The report of our launcher has more: when the other hosts had
// answered, when their agents had come, and when all processes were forked. Then all ranks sleep
// for 0.3 s, and each reads in /proc/self/smaps_rollup its resident size (Rss), which counts what
// it shares with others whole, and its proportional one (Pss), of which each sharer counts its
// part: the sizes of n processes add up to n times the mean Pss.
//
// Beside the times stands the processor time that a rank has taken by each moment, and that of the
// whole job, with its launcher. It depends much less than the times on what else the machine does.
//
// # Limits
//
// With more processes than cores the times contain the scheduler's work. The launcher's own memory
// isn't counted, nor shared memory that no process has touched. On several hosts the times are
// right as far as the hosts' clocks agree, and the processor time of the whole job is that of this
// host alone.
package startup

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"banyan/bench/peers"
)

//go:embed programs/startup.c
var source []byte

// limit ends a job that doesn't end.
const limit = 2 * time.Minute

// Job is what one job showed.
type Job struct {
	// When the last process was in main, past MPI_Init and past a barrier, and when the launcher
	// had ended: since before the launcher was started.
	InMain, Initialized, Started, Ended time.Duration
	// Processor time by the same moments: the first three are means of the processes; CPU is that
	// of the launcher and all that it has waited for.
	InMainCPU, InitializedCPU, StartedCPU, CPU time.Duration

	Rss, Pss float64 // bytes, mean of its processes
	// Phases are those of the launcher, nil if it tells none.
	Phases *Phases
}

// Phases are what a launcher does before the first process runs.
type Phases struct {
	// Until the other hosts had answered, and until their agents had come: since they were called;
	// 0 if there are none. Until all processes were forked: since before the launcher was started.
	Connected, Agents, Forked time.Duration
}

// Build builds the program with the compiler of a library, in dir.
func Build(dir string, l peers.Library) (program string, err error) {
	program = filepath.Join(dir, "startup-"+l.Name)
	if err := os.WriteFile(program+".c", source, 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command(l.CC, "-O2", "-o", program, program+".c").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", l.CC, err, out)
	}
	return program, nil
}

// Run runs one job of a program that Build has built, on hosts if any are named, as h0:4,h1:4.
func Run(ctx context.Context, l peers.Library, program string, procs int, hosts string) (Job, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var further []string
	if hosts != "" {
		further = append(further, l.Hosts, hosts)
	}
	report := program + "-report.json"
	if l.Report != "" {
		further = append(further, l.Report, report)
	}
	begin := time.Now()
	args := slices.Concat(l.Exec[1:], []string{strconv.Itoa(procs)}, further, []string{program, strconv.FormatInt(begin.UnixNano(), 10)})
	cmd := exec.CommandContext(ctx, l.Exec[0], args...)
	cmd.Env = append(os.Environ(), l.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // launchers clean up then
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	j := Job{Ended: time.Since(begin)}
	if s := cmd.ProcessState; s != nil {
		j.CPU = s.UserTime() + s.SystemTime()
	}
	if err != nil {
		return j, fmt.Errorf("%s, %d processes: %w: %s", l.Name, procs, errors.Join(err, ctx.Err()), strings.TrimSpace(stderr.String()))
	}
	if err := j.read(string(out)); err != nil {
		return j, fmt.Errorf("%s, %d processes: %w", l.Name, procs, err)
	}
	if l.Report != "" {
		if j.Phases, err = readPhases(report, begin); err != nil {
			return j, fmt.Errorf("%s, %d processes: %w", l.Name, procs, err)
		}
	}
	return j, nil
}

// readPhases takes what a launcher reports of a job that began then.
func readPhases(file string, begin time.Time) (*Phases, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r struct {
		Start   time.Time `json:"start"`
		Connect float64   `json:"connect_s"`
		Agents  float64   `json:"agents_s"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &Phases{time.Duration(r.Connect * 1e9), time.Duration(r.Agents * 1e9), r.Start.Sub(begin)}
	if p.Forked <= 0 || p.Connected < 0 || p.Agents < p.Connected || p.Forked < p.Agents {
		return nil, fmt.Errorf("these phases can't be: hosts answered after %v, agents came after %v, all was forked after %v", p.Connected, p.Agents, p.Forked)
	}
	return p, nil
}

// read takes what the program prints.
func (j *Job) read(out string) error {
	var ns [6]int64
	if n, err := fmt.Sscan(out, &ns[0], &ns[1], &ns[2], &ns[3], &ns[4], &ns[5], &j.Rss, &j.Pss); n != 8 {
		return fmt.Errorf("the program printed %.100q: %w", out, err)
	}
	j.InMain, j.Initialized, j.Started = time.Duration(ns[0]), time.Duration(ns[1]), time.Duration(ns[2])
	j.InMainCPU, j.InitializedCPU, j.StartedCPU = time.Duration(ns[3]), time.Duration(ns[4]), time.Duration(ns[5])
	moments := []time.Duration{0, j.InMain, j.Initialized, j.Started, j.Ended}
	spent := []time.Duration{0, j.InMainCPU, j.InitializedCPU, j.StartedCPU}
	if !slices.IsSorted(moments) || !slices.IsSorted(spent) || j.InMain == 0 || j.InMainCPU == 0 || j.Pss <= 0 || j.Pss > j.Rss {
		return fmt.Errorf("these figures can't be: in main after %v, past MPI_Init after %v, started after %v of %v, with %v, %v and %v of a processor, %.0f bytes resident, %.0f in proportion",
			j.InMain, j.Initialized, j.Started, j.Ended, j.InMainCPU, j.InitializedCPU, j.StartedCPU, j.Rss, j.Pss)
	}
	return nil
}
