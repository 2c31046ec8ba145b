package join

import (
	"banyan/internal/job/env"
	"banyan/internal/layout"

	"fmt"
	"os"
)

// layout gives so many processes their ranks; 0: this one is alone, whatever was planned.
func readLayout(procs int) (layout.Layout, error) {
	degree, degrees, err := env.ReadReplicas()
	if err != nil {
		return layout.Layout{}, err
	}
	if procs == 0 {
		return layout.Uniform(1, 1), nil
	}
	if degrees == nil {
		if degree > layout.MaxDegree || procs%degree != 0 {
			return layout.Layout{}, fmt.Errorf("%d processes can't be ranks of %d replicas each", procs, degree)
		}
		return layout.Uniform(procs/degree, degree), nil
	}
	total := 0
	for _, d := range degrees {
		total += d
	}
	if total != procs {
		return layout.Layout{}, fmt.Errorf("%s=%.100q: %d replicas of %d ranks, in a job of %d processes",
			env.Replicas, env.FormatReplicas(degrees), total, len(degrees), procs)
	}
	return layout.Partial(degrees), nil
}

// mirrored says whether each replica sends to all replicas of a rank.
func mirrored() (bool, error) {
	switch s := os.Getenv(env.Protocol); s {
	case "", env.ProtocolParallel:
		return false, nil
	case env.ProtocolMirror:
		return true, nil
	default:
		return false, fmt.Errorf("%s=%q is no protocol; there are parallel and mirror", env.Protocol, s)
	}
}
