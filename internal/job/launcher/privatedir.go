package launcher

import (
	"errors"
	"fmt"
	"path/filepath"

	"banyan/internal/proto"
)

// With Config.PrivateDir every process starts in a directory of its own. The replicas of a rank
// open the same files, and so they don't write into each other's.

// checkPrivate makes the paths of the programs absolute, because they start elsewhere.
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

// programOf is the program of a process, with the directory to start in. If the job has private
// directories, that of the process is RANK-REPLICA, and RANK-REPLICA.1, .2… for replacements; its
// agent makes it.
func (p *plan) programOf(id proto.Proc, incarnation proto.Incarnation) *part {
	rank := p.layout.Rank(id)
	program := p.part(int(rank))
	if p.PrivateDir == "" {
		return program
	}
	name := fmt.Sprintf("%d-%d", rank, p.layout.Replica(id))
	if incarnation > 0 {
		name += fmt.Sprintf(".%d", incarnation)
	}
	there := *program
	there.Dir = filepath.Join(p.PrivateDir, name)
	there.Env = append(there.Env[:len(there.Env):len(there.Env)], "PWD="+there.Dir)
	return &there
}
