package failuredetector

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"banyan/internal/proto"
	"banyan/internal/study/agreement"
	"banyan/internal/study/detection/probing"
	"banyan/internal/study/detection/stabilisation"
	"banyan/internal/study/pieces"
)

// open opens a directory of pieces.
func open(dir string, p Parameters) (*pieces.Store, error) {
	p.Workers = 0
	code, err := fingerprint()
	if err != nil {
		return nil, err
	}
	return pieces.Open(dir, p, code)
}

// steps is the version of what the steps compute and how their items look. It goes up with a change
// that the fingerprint doesn't show.
const steps = 1

// fingerprint is of the outcomes of small runs of every kind. So pieces of a simulator with other
// outcomes are never taken for this one's.
func fingerprint() (string, error) {
	ctx := context.Background()
	const nodes, runs, seed = 40, 3, 1
	h := fnv.New64a()
	out := json.NewEncoder(h)
	for _, law := range []stabilisation.Law{stabilisation.Forced, stabilisation.Paced, stabilisation.Exponential, stabilisation.WholeHost} {
		for _, engine := range []stabilisation.EngineKind{stabilisation.Abstract, stabilisation.Machine} {
			s := lowLatency.settings(nodes)
			s.Law, s.Failures, s.Within, s.Gap, s.MTBF = law, 3, s.Timeout, s.Timeout/paces, proto.Time(nodes)*s.Timeout
			if law == stabilisation.WholeHost {
				s.HostSize = 3
			}
			c := stabilisation.Campaign{Settings: s, Engine: engine, Runs: runs, Seed: seed, Workers: 1}
			o, err := c.Run(ctx, nil)
			if err != nil {
				return "", err
			}
			if err := out.Encode(o); err != nil {
				return "", err
			}
		}
	}
	for _, draw := range []drawing{probing.RoundsUntilAll, probing.MostProbes, probing.Missed} {
		o, err := draw(ctx, probing.Spec{Nodes: nodes, Runs: runs, Seed: seed, Workers: 1})
		if err != nil {
			return "", err
		}
		if err := out.Encode(o); err != nil {
			return "", err
		}
	}
	c := agreementOf(nodes)
	c.Notice, c.Deaths = runs, []agreement.Death{{Member: 0, At: seed}}
	o, err := agreement.Simulate(&c)
	if err != nil {
		return "", err
	}
	if err := out.Encode(o); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d-%016x", steps, h.Sum64()), nil
}
