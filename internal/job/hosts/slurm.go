package hosts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// findSlurm finds the allocation of Slurm. Hosts have as many slots as tasks were asked for, or as
// CPUs, if no number of tasks was.
func findSlurm(s System) (*Allocation, error) {
	job, nodes := s.Getenv("SLURM_JOB_ID"), s.Getenv("SLURM_JOB_NODELIST")
	if job == "" || nodes == "" {
		return nil, nil
	}
	a := &Allocation{By: "Slurm job " + job, Slurm: true}
	if n, err := strconv.Atoi(s.Getenv("SLURM_STEP_NUM_TASKS")); err == nil && n > 1 {
		return nil, fmt.Errorf("srun has started this command %d times: start it once, without srun; it starts what it needs on all nodes itself", n)
	}
	names, err := s.nodes(nodes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.By, err)
	}
	slots, err := s.slurmSlots(len(names))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.By, err)
	}
	racks := s.slurmRacks()
	for i, name := range names {
		a.Hosts = append(a.Hosts, Host{Name: name, Slots: slots[i], Rack: racks[name]})
	}
	return a, nil
}

// nodes asks Slurm for the names in a list such as "node[1-3,7]".
func (s System) nodes(list string) ([]string, error) {
	out, err := s.Output("scontrol", "show", "hostnames", list)
	if err != nil {
		return nil, fmt.Errorf("scontrol show hostnames %s: %w", list, err)
	}
	names := strings.Fields(out)
	if len(names) == 0 {
		return nil, fmt.Errorf("scontrol show hostnames %s: it names no hosts", list)
	}
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("scontrol show hostnames %s: %q: %w", list, name, err)
		}
	}
	return names, nil
}

// slurmSlots are the slots of each of n nodes.
func (s System) slurmSlots(n int) ([]int, error) {
	perTask := 1
	name, text := "SLURM_TASKS_PER_NODE", s.Getenv("SLURM_TASKS_PER_NODE")
	if _, asked := s.first("SLURM_NTASKS", "SLURM_NTASKS_PER_NODE"); asked == "" || text == "" {
		if v, cpus := s.first("SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_ON_NODE"); cpus != "" {
			name, text = v, cpus
			if _, each := s.first("SLURM_CPUS_PER_TASK"); each != "" {
				var err error
				if perTask, err = number(each); err != nil {
					return nil, fmt.Errorf("SLURM_CPUS_PER_TASK is %q: %w", each, err)
				}
			}
		}
	}
	if text == "" {
		return nil, errors.New("neither SLURM_TASKS_PER_NODE nor SLURM_JOB_CPUS_PER_NODE is set")
	}
	slots, err := counts(text, n)
	if err != nil {
		return nil, fmt.Errorf("%s is %q: %w", name, text, err)
	}
	for i := range slots {
		slots[i] = max(slots[i]/perTask, 1)
	}
	return slots, nil
}

// counts reads a number for each of n nodes, such as "4(x2),3". One number alone is that of all.
func counts(text string, n int) ([]int, error) {
	var all []int
	for field := range strings.SplitSeq(text, ",") {
		count, times, repeated := strings.Cut(strings.TrimSpace(field), "(x")
		value, err := number(count)
		if err != nil {
			return nil, err
		}
		repeat := 1
		if repeated {
			if repeat, err = number(strings.TrimSuffix(times, ")")); err != nil || !strings.HasSuffix(times, ")") {
				return nil, fmt.Errorf("%q: want a number, or one with its repetition, such as 4(x2)", field)
			}
		}
		if len(all)+repeat > n {
			return nil, fmt.Errorf("it is for more than the %d nodes of the job", n)
		}
		for range repeat {
			all = append(all, value)
		}
	}
	if len(all) == 1 && !strings.Contains(text, "(") {
		return slices.Repeat(all, n), nil
	}
	if len(all) < n {
		return nil, fmt.Errorf("it is for %d nodes, and the job has %d", len(all), n)
	}
	return all, nil
}

// slurmRacks are the lowest switches above the nodes, if Slurm knows them. A switch that all nodes
// share is no rack, as one domain of failure for everything says nothing.
func (s System) slurmRacks() map[string]string {
	out, err := s.Output("scontrol", "show", "topology")
	if err != nil {
		return nil // Slurm knows no topology
	}
	racks := make(map[string]string)
	for line := range strings.Lines(out) {
		fields := make(map[string]string)
		for _, word := range strings.Fields(line) {
			key, value, _ := strings.Cut(word, "=")
			fields[key] = value
		}
		name := fields["SwitchName"]
		if fields["Level"] != "0" || !plain(name) || fields["Nodes"] == "" {
			continue
		}
		nodes, err := s.nodes(fields["Nodes"])
		if err != nil {
			continue
		}
		for _, node := range nodes {
			racks[node] = name
		}
	}
	return racks
}
