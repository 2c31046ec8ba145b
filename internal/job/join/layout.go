package join

import (
	"banyan/internal/layout"

	"fmt"
	"os"
	"strconv"
	"strings"
)

const (
	// replicasVariable is how many replicas each rank has: a number for all, or one for
	// each rank with commas between.
	replicasVariable = "BANYAN_REPLICAS"
	// protocolVariable is how replicas speak to each other: parallel or mirror.
	protocolVariable = "BANYAN_PROTOCOL"
)

// layout gives so many processes their ranks; 0: this one is alone, whatever was planned.
func readLayout(procs int) (layout.Layout, error) {
	text := os.Getenv(replicasVariable)
	if !strings.Contains(text, ",") {
		degree, err := intVariable(replicasVariable, 1)
		if err != nil {
			return layout.Layout{}, err
		}
		if procs == 0 {
			return layout.Uniform(1, 1), nil
		}
		if degree > layout.MaxDegree || procs%degree != 0 {
			return layout.Layout{}, fmt.Errorf("%d processes can't be ranks of %d replicas each", procs, degree)
		}
		return layout.Uniform(procs/degree, degree), nil
	}
	var degrees []int
	total := 0
	for _, field := range strings.Split(text, ",") {
		degree, err := strconv.Atoi(field)
		if err != nil || degree < 1 || degree > layout.MaxDegree {
			return layout.Layout{}, fmt.Errorf("%s=%.100q: want numbers from 1 to %d with commas between, not %.20q", replicasVariable, text, layout.MaxDegree, field)
		}
		degrees, total = append(degrees, degree), total+degree
	}
	if procs == 0 {
		return layout.Uniform(1, 1), nil
	}
	if total != procs {
		return layout.Layout{}, fmt.Errorf("%s=%.100q: %d replicas of %d ranks, in a job of %d processes", replicasVariable, text, total, len(degrees), procs)
	}
	return layout.Partial(degrees), nil
}

// mirrored says whether each replica sends to all replicas of a rank.
func mirrored() (bool, error) {
	switch s := os.Getenv(protocolVariable); s {
	case "", "parallel":
		return false, nil
	case "mirror":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%q is no protocol; there are parallel and mirror", protocolVariable, s)
	}
}
