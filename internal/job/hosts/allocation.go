package hosts

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Allocation is what a batch system has given to this job.
type Allocation struct {
	By    string // what has allocated: "Slurm job 17"
	Hosts List
	Slurm bool // agents are started by srun
}

// System is what FindAllocation asks.
type System struct {
	Getenv func(name string) string
	Open   func(name string) (io.ReadCloser, error)
	// Output runs a command, and returns what it printed.
	Output func(name string, args ...string) (string, error)
}

// commandLimit bounds the wait for a command of a batch system.
const commandLimit = 30 * time.Second

// ThisSystem is the real one.
func ThisSystem() System {
	return System{os.Getenv, func(name string) (io.ReadCloser, error) { return os.Open(name) },
		func(name string, args ...string) (string, error) {
			ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
			defer cancel()
			out, err := exec.CommandContext(ctx, name, args...).Output()
			return string(out), err
		}}
}

// FindAllocation finds the allocation that this process runs in. It returns nil if there is none.
func FindAllocation(s System) (*Allocation, error) {
	for _, find := range []func(System) (*Allocation, error){findSlurm, findPBS, findOperator} {
		if a, err := find(s); a != nil || err != nil {
			return a, err
		}
	}
	return nil, nil
}

// readFile reads the host file of a batch system.
func (s System) readFile(name string) (List, error) {
	file, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ParseFile(name, file)
}

// first is the first variable of these that is set.
func (s System) first(names ...string) (name, value string) {
	for _, name := range names {
		if value := strings.TrimSpace(s.Getenv(name)); value != "" {
			return name, value
		}
	}
	return "", ""
}
