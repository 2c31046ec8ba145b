package check

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	"banyan/internal/job/env"
	"banyan/internal/proto"
)

// Environment tells the processes of a job that it is checked. The data of one site may be looked
// at; the zero Site is none.
func Environment(dir string, seed uint64, look Site) []string {
	list := []string{env.Entry(env.Calls, dir), env.Entry(env.Perturb, seed)}
	if look.Op != "" {
		list = append(list, env.Entry(env.Look, look.entry()))
	}
	return list
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
	if err == nil {
		r.looking = lookingFromEnv()
	}
	return r, max(1, rand.NewPCG(seed, uint64(self)).Uint64()), err // each process has another seed
}
