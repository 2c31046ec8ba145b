package join

import (
	"fmt"
	"os"
	"strconv"

	"banyan/internal/job/env"
)

// otherLauncher is a launcher that may start processes without PMI-1, by the variables that it sets
// for each of them.
type otherLauncher struct {
	name string
	task string // which process this is
	size string // how many processes there are; "" if no variable tells
	mend string // how this launcher gives its processes PMI-1; "" if it can't
}

// otherLaunchers ends with PMIx, which doesn't tell the number of processes by a variable: it
// counts where no other launcher tells.
var otherLaunchers = []otherLauncher{
	{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun --mpi=pmi2"},
	{"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ""},
	{"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "flux run -o pmi=simple"},
	{"PALS' mpiexec", "PALS_RANKID", "PMI_SIZE", ""},
	{"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", ""},
	{"a launcher that speaks PMIx", "PMIX_RANK", "", ""},
}

// mayBeAlone returns an error if this process, which has no PMI, must not become a job of one: a
// launcher has started several, which were meant to be one job. Otherwise each would compute the
// whole, and all would write the same files.
//
// Launchers may be nested, in any order. So it is enough that one has started several.
func mayBeAlone() error {
	if alone, err := env.ReadAlone(); alone || err != nil {
		return err
	}
	sized := false
	for _, l := range otherLaunchers {
		task := os.Getenv(l.task)
		if task == "" {
			continue
		}
		if l.size == "" {
			if !sized {
				return l.refusal("was started by "+l.name, l.task, task)
			}
			continue
		}
		text := os.Getenv(l.size)
		size, err := strconv.Atoi(text)
		if err == nil && size > 1 {
			return l.refusal(fmt.Sprintf("is one of %d that %s started", size, l.name), l.size, text)
		}
		sized = sized || err == nil
	}
	return nil
}

// refusal says what is wrong, by which variable this process knows it, and what to do.
func (l otherLauncher) refusal(what, name, value string) error {
	mend := "Banyan's mpiexec (banyan run)"
	if l.mend != "" {
		mend = l.mend + " or " + mend
	}
	return fmt.Errorf("this process %s (%s=%.20s), and it has no PMI-1 by which they could find each other: start the program with %s, "+
		"or set %s=1 to run each process as a job of its own", what, name, value, mend, env.Alone)
}
