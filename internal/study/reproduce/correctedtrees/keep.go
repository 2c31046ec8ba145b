package correctedtrees

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"

	"banyan/internal/study/campaign/incremental"
	"banyan/internal/study/driver/logp"
	"banyan/internal/study/pieces"
	"banyan/internal/topology"
)

// Below the report's directory: campaigns, and what other steps have finished.
const (
	runsName   = "runs"
	piecesName = "pieces"
)

// open opens the pieces below the report's directory. Results of campaigns whose settings nobody
// knows are refused: they may be of another simulator.
func (e *experiment) open() (*pieces.Store, error) {
	dir := filepath.Join(e.dir, piecesName)
	if !pieces.Exists(dir) {
		if begun, err := filepath.Glob(filepath.Join(e.dir, runsName, "*.csv")); err != nil || len(begun) > 0 {
			return nil, fmt.Errorf("%s: not known by which version of this program: choose another directory, or remove %s", begun, filepath.Join(e.dir, runsName))
		}
	}
	settings := e.Parameters
	settings.Workers = 0
	code, err := fingerprint()
	if err != nil {
		return nil, err
	}
	return pieces.Open(dir, settings, code)
}

// each computes the items of a step that aren't kept yet.
func each[T any](ctx context.Context, e *experiment, step string, n int, do func(worker, i int) (T, error)) ([]T, error) {
	return pieces.Each(ctx, e.store, step, n, e.Workers, func(done int) { e.progress(step, done, n) }, do)
}

// steps is the version of what the steps compute and how their items look. It goes up with a change
// that the fingerprint doesn't show.
const steps = 1

// fingerprint is of the outcomes of some broadcasts of every kind that is simulated here. So pieces
// of a simulator with other outcomes are never taken for this one's.
func fingerprint() (string, error) {
	const procs, deaths, until = 200, 9, 11
	h := fnv.New64a()
	out := json.NewEncoder(h)
	var engine logp.Simulator
	run := func(c logp.Case) error {
		if err := c.FailRandom(deaths, rand.NewPCG(1, 0)); err != nil {
			return err
		}
		o, err := engine.Run(&c, nil)
		if err != nil {
			return err
		}
		return out.Encode(o)
	}
	var failed logp.Case
	failed.Procs = procs
	if err := failed.FailRandom(deaths, rand.NewPCG(1, 0)); err != nil {
		return "", err
	}
	for i := range trees {
		for _, c := range []correction{plain, acknowledged, checked, single, optimised(distances[0]), optimised(distances[1])} {
			if err := run(trees[i].broadcastCase(procs, c)); err != nil {
				return "", err
			}
		}
		for _, n := range []topology.Numbering{topology.Interleaved, topology.InOrder} {
			c := trees[i].broadcastCase(procs, checked)
			c.Numbering = n
			evaluator, err := incremental.New(&c)
			if err != nil {
				return "", err
			}
			o, err := evaluator.Run(failed.Failed)
			if err != nil {
				return "", err
			}
			if err := out.Encode(o); err != nil {
				return "", err
			}
		}
		shape, err := trees[i].shape(procs)
		if err != nil {
			return "", err
		}
		if err := out.Encode(newReach(&shape).unreached(nil, failed.Failed, distances)); err != nil {
			return "", err
		}
	}
	gossip := gossipCase(procs, checked.kind, 0)
	gossip.Gossip.Until, gossip.Gossip.Seed = until, 1
	if err := run(gossip); err != nil {
		return "", err
	}
	var w gossipWorker
	w.init(procs)
	err := out.Encode(w.run(until, 1))
	return fmt.Sprintf("%d-%016x", steps, h.Sum64()), err
}
