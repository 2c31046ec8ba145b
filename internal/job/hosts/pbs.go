package hosts

import "fmt"

// findPBS finds the allocation of PBS (OpenPBS, PBS Pro, Torque). PBS_NODEFILE names a file that
// has each host once for each of its slots.
func findPBS(s System) (*Allocation, error) {
	job, name := s.Getenv("PBS_JOBID"), s.Getenv("PBS_NODEFILE")
	if job == "" || name == "" {
		return nil, nil
	}
	list, err := s.readFile(name)
	if err != nil {
		return nil, fmt.Errorf("PBS job %s: PBS_NODEFILE: %w", job, err)
	}
	for i := range list {
		list[i].Slots = max(list[i].Slots, 1)
	}
	return &Allocation{By: "PBS job " + job, Hosts: list}, nil
}
