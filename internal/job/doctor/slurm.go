package doctor

import "fmt"

// batch judges an allocation of Slurm.
func (j *judgement) batch(b *Batch) {
	j.either("srun", map[bool]string{true: "it can't be called"}[b.Version == ""], Problem, b.Version,
		"put Slurm's commands into PATH, or pass --launch-agent: srun starts the agents")
	switch b.Proctrack {
	case "":
	case "proctrack/cgroup":
		j.add("ProctrackType", Fine, b.Proctrack, "")
	default:
		j.add("ProctrackType", Warning, b.Proctrack, "Slurm may lose processes that outlive a step; with proctrack/cgroup in slurm.conf it finds them all")
	}
	if b.Tasks {
		j.add("slots", Fine, "as many as tasks", "")
	} else {
		j.add("slots", Fine, "as many as CPUs, since no number of tasks was asked for", "")
	}
	if b.Nodes == 1 {
		j.add("nodes", Warning, "1", "replicas of a rank need different nodes: ask for as many nodes as replicas (sbatch --nodes), or pass --allow-shared-host")
	} else {
		j.add("nodes", Fine, fmt.Sprint(b.Nodes), "")
	}
}
