package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"banyan/internal/job/env"
	"banyan/internal/proto"
)

// Environment tells the processes of a job that it is checked.
func Environment(dir string, seed uint64) []string {
	return []string{env.Entry(env.Calls, dir), env.Entry(env.Perturb, seed)}
}

// FromEnv makes the recorder of a process and the seed of its delays. They are nil and 0 if the job
// isn't checked.
func FromEnv(self proto.Proc) (*Recorder, uint64, error) {
	dir, text := os.Getenv(env.Calls), os.Getenv(env.Perturb)
	if dir == "" {
		return nil, 0, nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("%s=%q must be a number", env.Perturb, text)
	}
	r, err := NewRecorder(dir, self)
	return r, max(1, rand.NewPCG(seed, uint64(self)).Uint64()), err // each process has another seed
}
