package reproduce

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
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

// keep keeps what is measured together.
func keep(ctx context.Context, store *pieces.Store) func(string, func() ([]benchreplication.Sample, error)) ([]benchreplication.Sample, error) {
	return func(name string, measure func() ([]benchreplication.Sample, error)) ([]benchreplication.Sample, error) {
		var measured []benchreplication.Sample
		all, err := pieces.Once(ctx, store, name, func() (_ []benchreplication.Sample, err error) {
			measured, err = measure()
			return measured, err
		})
		if err != nil {
			return measured, err // what there is, for the file of all runs
		}
		return all, nil
	}
}
