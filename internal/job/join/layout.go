package join

import (
	"fmt"
	"os"

	"banyan/internal/job/env"
	"banyan/internal/layout"
)

// readLayout gives so many processes their ranks. With 0 processes this one is alone, whatever
// the environment says.
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
			env.Replicas, os.Getenv(env.Replicas), total, len(degrees), procs)
	}
	return layout.Partial(degrees), nil
}
