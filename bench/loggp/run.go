package loggp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"banyan/bench/peers"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/internal/proto"
	"banyan/internal/study/replication"
	"banyan/internal/study/replication/pattern"
)

// Bench is what to measure, and with what.
type Bench struct {
	// Worker is a program, and those of its arguments after which it calls [Perform] with the
	// rest.
	Worker    []string
	Transport string
	Rounds    int
	Limit     time.Duration // of one job
	Progress  func()        // is called after each job
}

// jobsOfRound is how many jobs a round of Costs has.
const jobsOfRound = 4

// Steps is how often Progress is called by Costs.
func (b *Bench) Steps() int { return b.Rounds * jobsOfRound }

// Costs measures what messages cost.
func (b *Bench) Costs(ctx context.Context) ([]Cost, error) {
	rounds := make([]round, b.Rounds)
	for i := range rounds {
		r := &rounds[i]
		for _, job := range []struct {
			into            *calls
			replicas        int
			sleep, eachAcks bool
		}{
			{&r.spinning, 1, runtime.NumCPU() < 2, false}, {&r.sleeping, 1, true, false},
			{&r.replicated, 2, true, false}, {&r.each, 2, true, true},
		} {
			if err := b.run(ctx, job.into, 2, job.replicas, job.eachAcks, roleCalls, strconv.FormatBool(job.sleep)); err != nil {
				return nil, err
			}
		}
	}
	return summary(rounds), nil
}

// run runs a job, and reads what its rank 0 has written.
func (b *Bench) run(ctx context.Context, into any, ranks, replicas int, each bool, args ...string) error {
	cfg := launcher.Config{
		Ranks: ranks, Replicas: replicas, Program: b.Worker[0], Args: append(b.Worker[1:len(b.Worker):len(b.Worker)], args...),
		Env: os.Environ(), Transport: b.Transport, Bind: launcher.BindCore, Stdin: bytes.NewReader(nil), Limit: b.Limit, Stop: ctx.Done(),
	}
	if each {
		cfg.Env = append(cfg.Env, env.Entry(env.Acknowledge, env.AcknowledgeEach))
	}
	var stdout, stderr bytes.Buffer
	cfg.Stdout, cfg.Stderr = &stdout, &stderr
	report, err := launcher.Run(cfg)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case report.ExitCode != 0:
		return fmt.Errorf("a job ended with %d: %s", report.ExitCode, bytes.TrimSpace(stderr.Bytes()))
	}
	if b.Progress != nil {
		b.Progress()
	}
	return json.Unmarshal(stdout.Bytes(), into)
}

// Program is a pattern to be run and to be simulated.
type Program struct {
	Kind            string
	Ranks, Replicas int
	Bytes           int64
	Steps           int
	Compute         time.Duration
}

// sleeps tells whether its processes sleep in place of computing, as there are fewer cores.
func (p *Program) sleeps() bool { return p.Ranks*p.Replicas > runtime.NumCPU() }

// settings are those of its simulation.
func (p *Program) settings(c replication.Costs) replication.Settings {
	return replication.Settings{
		Pattern: pattern.Spec{Kind: p.Kind, Ranks: p.Ranks, Bytes: p.Bytes}, Degree: p.Replicas, Steps: p.Steps,
		Compute: proto.Time(p.Compute), Costs: c, Detection: max(c.Latency, 500_000),
	}
}

// Validate returns an error for what can't be run or simulated.
func (p *Program) Validate(c replication.Costs) error {
	s := p.settings(c)
	if _, err := pattern.New(s.Pattern); err != nil {
		return err
	}
	return s.Validate()
}

// Compared is a program as a real job and simulated: microseconds of a step.
type Compared struct {
	Program
	// Shared says that its processes had to share cores: they slept in place of computing.
	Shared    bool
	Real      peers.Spread
	Simulated float64
}

// Compare runs programs in so many rounds, and simulates each.
func (b *Bench) Compare(ctx context.Context, programs []Program, c replication.Costs) ([]Compared, error) {
	times := make([][]float64, len(programs))
	for range b.Rounds {
		for i := range programs {
			p := &programs[i]
			var ns float64
			if err := b.run(ctx, &ns, p.Ranks, p.Replicas, false, rolePlay, strconv.FormatBool(p.sleeps()),
				strconv.Itoa(p.Steps), p.Compute.String(), p.Kind, strconv.FormatInt(p.Bytes, 10)); err != nil {
				return nil, fmt.Errorf("%s, %d ranks: %w", p.Kind, p.Ranks, err)
			}
			times[i] = append(times[i], ns/1e3)
		}
	}
	var all []Compared
	for i, p := range programs {
		o, err := replication.Run(ctx, p.settings(c), runtime.NumCPU(), nil)
		if err != nil {
			return nil, err
		}
		all = append(all, Compared{p, p.sleeps(), peers.SpreadOf(times[i]), float64(o.Time) / 1e3 / float64(p.Steps)})
	}
	return all, nil
}

// Off is by how much a real step takes longer than the simulated one.
func (c *Compared) Off() float64 { return c.Real.Median/c.Simulated - 1 }
