package campaign

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"banyan/internal/proto"
	"banyan/internal/study/campaign/incremental"
	"banyan/internal/study/driver/logp"
)

// syncEvery is how much work a loss of power may cost.
const syncEvery = 10 * time.Second

// aheadPerWorker is how many rows of each worker may wait for an earlier one.
const aheadPerWorker = 64

// Progress is called with how many of all broadcasts are in the file.
type Progress func(done, total int)

// Run simulates what a file of results lacks, on so many workers, and appends it. When ctx ends
// it stops early, with all whole rows in the file, and returns the error of ctx. progress may be
// nil.
func (s *Spec) Run(ctx context.Context, path string, workers int, progress Progress) (err error) {
	file, done, err := s.open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Sync(), file.Close()) }()
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(done, s.Total())

	ctx, stop := context.WithCancelCause(ctx)
	results, wait := s.simulate(ctx, stop, done, workers)
	done, err = s.write(file, results, done, progress)
	stop(err) // without effect if the workers were stopped before, with a reason
	wait()
	if done < s.Total() {
		return context.Cause(ctx)
	}
	return err
}

// write appends results as they come, in order, up to the first that wasn't
// simulated. It returns how many rows there are then.
func (s *Spec) write(file *os.File, results <-chan chan result, done int, progress Progress) (int, error) {
	out := bufio.NewWriterSize(file, 1<<16)
	written := done // not only buffered
	synced := time.Now()
	flush := func() error {
		err := out.Flush()
		if err == nil {
			written = done
			progress(written, s.Total())
			if time.Since(synced) > syncEvery {
				err, synced = file.Sync(), time.Now()
			}
		}
		return err
	}
	for pending := range results {
		var r result
		select {
		case r = <-pending:
		default: // time to write
			if err := flush(); err != nil {
				return written, err
			}
			r = <-pending
		}
		if r.line == "" {
			break
		}
		if _, err := out.WriteString(r.line); err != nil {
			return written, err
		}
		done++
	}
	err := flush()
	return written, err
}

// result is a row's line, or "" if it wasn't simulated.
type result struct{ line string }

// job is a row for a worker to simulate.
type job struct {
	row  int
	into chan<- result
}

// simulate hands out the rows from one on. Their results come in order: each is
// a channel that will hold one. The workers end with ctx, or when all is done; wait
// waits for that.
func (s *Spec) simulate(ctx context.Context, fail context.CancelCauseFunc, from, workers int) (results chan chan result, wait func()) {
	results = make(chan chan result, workers*aheadPerWorker)
	jobs := make(chan job)
	go func() {
		defer close(results)
		defer close(jobs)
		for row := from; row < s.Total(); row++ {
			into := make(chan result, 1)
			select {
			case results <- into:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- job{row, into}:
			case <-ctx.Done():
				into <- result{}
				return
			}
		}
	}()
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			w := worker{spec: s}
			for j := range jobs {
				if ctx.Err() != nil {
					j.into <- result{}
					continue
				}
				outcome, err := w.run(j.row)
				if err != nil {
					fail(fmt.Errorf("%s: %w", s.about(j.row), err))
					j.into <- result{}
					continue
				}
				j.into <- result{s.line(j.row, outcome)}
			}
		})
	}
	return results, group.Wait
}

// worker simulates one broadcast after the other.
type worker struct {
	spec      *Spec
	point     *Point // that of the last one
	evaluator *incremental.Evaluator
	engine    logp.Simulator // where the evaluator is nil
	until     proto.Time     // the point's crashes are up to then
}

func (w *worker) run(row int) (logp.Outcome, error) {
	p, run := w.spec.at(row)
	if p != w.point {
		if err := w.begin(p); err != nil {
			return logp.Outcome{}, err
		}
	}
	c, err := w.draw(p, w.spec.seed(p, run))
	if err != nil {
		return logp.Outcome{}, err
	}
	if w.evaluator != nil {
		return w.evaluator.Run(c.Failed)
	}
	return w.engine.Run(&c, nil)
}

// begin prepares for the runs of a point.
func (w *worker) begin(p *Point) (err error) {
	w.evaluator = nil
	if p.Crashes > 0 {
		w.until, err = w.engine.Undisturbed(p.Case)
	} else if w.evaluator, err = incremental.New(&p.Case); errors.Is(err, incremental.ErrNotCovered) {
		err = nil
	}
	w.point = p
	return err
}

// draw makes the case of one run, as banyan sim broadcast does for a seed.
func (w *worker) draw(p *Point, seed uint64) (logp.Case, error) {
	c := p.Case
	if c.Tree == logp.Gossip {
		c.Gossip.Seed = seed
	}
	if c.Model.Noise > 0 {
		c.Model.NoiseSeed = seed
	}
	if c.Model.Nodes.Size > 0 {
		c.Model.Nodes.Seed = seed
	}
	if err := c.FailRandom(p.Dead, rand.NewPCG(seed, 0)); err != nil {
		return c, err
	}
	if p.DeadNodes > 0 {
		if err := c.FailNodes(p.DeadNodes, rand.NewPCG(seed, 1)); err != nil {
			return c, err
		}
	}
	return c, c.CrashRandom(p.Crashes, w.until, rand.NewPCG(seed, 2))
}
