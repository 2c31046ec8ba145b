package reproduce

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	benchreplication "banyan/bench/replication"
	"banyan/internal/study/pieces"
)

// replicationSettings determine what is measured.
type replicationSettings struct {
	Plan            benchreplication.Plan
	Ranks, Replicas int
	Timeout         time.Duration
	Seed            uint64
	Machine         string
	Processors      int
}

// open opens the directory of what was measured by the same flags, on the same machine, with the
// same programs.
func (f *replicationFlags) open(plan benchreplication.Plan) (*pieces.Store, error) {
	s := replicationSettings{Plan: plan, Ranks: f.ranks, Replicas: f.replicas, Timeout: f.limit, Seed: f.common.seed, Processors: runtime.NumCPU()}
	var err error
	if s.Machine, err = os.Hostname(); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	code, err := digest(self, plan.Applications)
	if err != nil {
		return nil, err
	}
	return pieces.Open(f.common.pieces(), s, code)
}

// digest is that of the content of programs.
func digest(banyan string, applications []benchreplication.Application) (string, error) {
	h := sha256.New()
	add := func(program string) (err error) {
		if program, err = exec.LookPath(program); err != nil {
			return err
		}
		file, err := os.Open(program)
		if err != nil {
			return err
		}
		_, err = io.Copy(h, file)
		return errors.Join(err, file.Close())
	}
	if err := add(banyan); err != nil {
		return "", err
	}
	for _, a := range applications {
		if err := add(a.Command[0]); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// keeping keeps what is measured together.
type keeping struct {
	store *pieces.Store
	parts []string // that may be measured; nil: all
	// missing says that something of the other parts isn't there.
	missing bool
}

// keep returns what is kept, or measures it, unless it is of a part that is left out.
func (k *keeping) keep(ctx context.Context) func(part, name string, measure func() ([]benchreplication.Sample, error)) ([]benchreplication.Sample, error) {
	return func(part, name string, measure func() ([]benchreplication.Sample, error)) ([]benchreplication.Sample, error) {
		if k.parts != nil && !slices.Contains(k.parts, part) {
			all, is, err := pieces.Kept[[]benchreplication.Sample](k.store, name)
			k.missing = k.missing || !is
			return all, err
		}
		var measured []benchreplication.Sample
		all, err := pieces.Once(ctx, k.store, name, func() (_ []benchreplication.Sample, err error) {
			measured, err = measure()
			return measured, err
		})
		if err != nil {
			return measured, err // what there is, for the file of all runs
		}
		return all, nil
	}
}

// reproducedParts are the parts of a plan by the words of --only, which are those of banyan bench
// replication.
var reproducedParts = map[string]string{
	"applications": benchreplication.PartApplication, "pingpong": benchreplication.PartPingPong, "frames": benchreplication.PartTraffic,
	"instructions": benchreplication.PartInstructions, "failover": benchreplication.PartFailover,
}

// parseParts reads --only.
func parseParts(words []string) (parts []string, err error) {
	for _, word := range words {
		part, ok := reproducedParts[word]
		if !ok {
			return nil, fmt.Errorf("%q: there are %s", word, strings.Join(slices.Sorted(maps.Keys(reproducedParts)), ", "))
		}
		parts = append(parts, part)
	}
	return parts, nil
}
