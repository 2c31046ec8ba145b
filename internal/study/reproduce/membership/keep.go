package membership

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"banyan/internal/study/driver/viewsim"
	"banyan/internal/study/pieces"
)

// Open opens a directory of pieces for what Run simulates with some parameters, whatever was
// measured. One of other parameters, or of a simulator with other outcomes, is refused with
// [pieces.ErrOther].
func Open(dir string, p Parameters) (*pieces.Store, error) {
	p.Workers, p.Contended, p.ContendedFrom, p.Measured, p.MeasuredBy, p.MeasuredFrom = 0, nil, "", nil, "", ""
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
	const nodes = 24
	h := fnv.New64a()
	out := json.NewEncoder(h)
	for _, protocol := range []viewsim.Protocol{viewsim.Banyan, viewsim.Paper, viewsim.PaperLists} {
		for _, kind := range []viewsim.FaultKind{viewsim.Node, viewsim.Root, viewsim.Join, viewsim.Several, viewsim.Takeover} {
			if kind == viewsim.Join && protocol != viewsim.Banyan {
				continue
			}
			s := viewsim.Settings{
				Protocol: protocol, Nodes: nodes, Arity: 2, Fault: viewsim.Fault{Kind: kind},
				Latency: ethernet.latency, Overhead: ethernet.overhead, Compute: ethernet.compute, Detection: 1e6,
			}
			if kind == viewsim.Several {
				s.Fault.Count = 3
			}
			s.Within = 10 * ethernet.halfRoundTrip()
			s.Spread = s.Within
			for seed := range uint64(3) {
				o, err := viewsim.Run(s, seed)
				if err != nil {
					return "", err
				}
				if err := out.Encode(o); err != nil {
					return "", err
				}
			}
		}
	}
	return fmt.Sprintf("%d-%016x", steps, h.Sum64()), nil
}
