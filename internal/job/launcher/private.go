package launcher

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"banyan/internal/proto"
)

// With Config.PrivateDir every process starts in a directory of its own, so that the replicas
// of a rank, which open the same files, don't write into each other's.

// checkPrivate makes the paths absolute of programs that start elsewhere.
func (p *plan) checkPrivate() (err error) {
	if p.PrivateDir == "" {
		return nil
	}
	if p.PrivateDir, err = filepath.Abs(p.PrivateDir); err != nil {
		return &StartError{1, err}
	}
	for i := range p.parts {
		part := &p.parts[i]
		if part.Dir != "" {
			return &StartError{CodeUsage, errors.New("a process can't start both in a private directory and in the one that is given for its program")}
		}
		if part.path, err = filepath.Abs(part.path); err != nil {
			return &StartError{1, err}
		}
	}
	return nil
}

// home makes the private directory of a process, if there is to be one: RANK-REPLICA, with
// .1, .2… behind for those that take the place of a dead one. It returns what to start
// there.
func (j *job) home(id proto.Proc, incarnation proto.Incarnation) (*part, error) {
	rank := j.ledger.Rank(id)
	program := j.of(int(rank))
	if j.PrivateDir == "" {
		return program, nil
	}
	name := fmt.Sprintf("%d-%d", rank, j.ledger.Replica(id))
	if incarnation > 0 {
		name += fmt.Sprintf(".%d", incarnation)
	}
	there := *program
	there.Dir = filepath.Join(j.PrivateDir, name)
	if err := os.MkdirAll(there.Dir, 0o777); err != nil {
		return nil, &StartError{1, fmt.Errorf("the directory of %v replica %d: %w", rank, j.ledger.Replica(id), err)}
	}
	there.Env = append(there.Env[:len(there.Env):len(there.Env)], "PWD="+there.Dir)
	return &there, nil
}
