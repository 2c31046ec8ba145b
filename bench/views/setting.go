package views

import (
	"fmt"
	"slices"
	"strings"

	"banyan/bench/membership"
)

// Of says whose views are measured.
type Of string

const (
	Group    Of = "group"    // members of package group
	Ranks    Of = "ranks"    // a job with one process a rank
	Replicas Of = "replicas" // a job with two processes a rank
)

// Every is all of these.
var Every = []Of{Group, Ranks, Replicas}

// Program is what the processes of a job do meanwhile.
type Program string

const (
	Waiting   Program = "waiting"   // nothing; members of a group always do
	Connected Program = "connected" // nothing, after each has sent each a message
	Computing Program = "computing" // they compute and never call MPI
	Messages  Program = "messages"  // two and two exchange messages of 8 bytes
)

// Programs is all of these.
var Programs = []Program{Waiting, Connected, Computing, Messages}

// Setting is one thing to measure.
type Setting struct {
	Of      Of
	N       int // processes, before
	Program Program
	Fault   membership.Fault
}

func (s *Setting) String() string {
	return fmt.Sprintf("%s of %d processes, %s, %v", s.Of, s.N, s.Program, s.Fault)
}

// Live is how many processes are left.
func (s *Setting) Live() int { return s.N - s.Fault.Deaths() }

// replicas is how many processes a rank has.
func (s *Setting) replicas() int {
	if s.Of == Replicas {
		return 2
	}
	return 1
}

// Check returns an error for a setting that makes no sense. It names the flag.
func (s *Setting) Check() error {
	switch {
	case !slices.Contains(Every, s.Of):
		return fmt.Errorf("--of %q: want %s", s.Of, list(Every))
	case !slices.Contains(Programs, s.Program):
		return fmt.Errorf("--program %q: want %s", s.Program, list(Programs))
	case s.Fault.Kind == membership.Join:
		return fmt.Errorf("--fault join: only deaths are measured here (banyan bench membership --fault join measures joining)")
	case s.N < 2 || s.N > MaxProcesses:
		return fmt.Errorf("-n %d: want 2 to %d processes", s.N, MaxProcesses)
	case s.N%s.replicas() != 0:
		return fmt.Errorf("-n %d: two replicas a rank make an even number of processes (or leave replicas out of --of)", s.N)
	case s.Live() < 1, s.Of == Replicas && s.Fault.Deaths() > s.N/2:
		return fmt.Errorf("--fault %v: of %d processes in %s too many would die", s.Fault, s.N, s.Of)
	}
	return nil
}

// MaxProcesses bounds a job.
const MaxProcesses = 256

func list[T ~string](all []T) string {
	var names []string
	for _, x := range all {
		names = append(names, string(x))
	}
	return strings.Join(names, ", ")
}
