package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"banyan/internal/proto"
)

// Variables by which banyan check asks the processes of a job for a record of what the
// program calls, in a directory, and for perturbed timing, by a seed.
const (
	callsVariable   = "BANYAN_CALLS"
	perturbVariable = "BANYAN_PERTURB"
)

// Environment is what the processes of a job are told that is to be checked.
func Environment(dir string, seed uint64) []string {
	return []string{callsVariable + "=" + dir, perturbVariable + "=" + strconv.FormatUint(seed, 10)}
}

// FromEnv makes the recorder of a process and the seed of its delays, if the job is being
// checked; else nil and 0.
func FromEnv(self proto.Proc) (*Recorder, uint64, error) {
	dir, text := os.Getenv(callsVariable), os.Getenv(perturbVariable)
	if dir == "" {
		return nil, 0, nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("%s=%q must be a number", perturbVariable, text)
	}
	r, err := NewRecorder(dir, self)
	return r, max(1, rand.NewPCG(seed, uint64(self)).Uint64()), err // another one for each process
}
