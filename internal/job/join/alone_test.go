package join

import (
	"strings"
	"testing"

	"banyan/internal/job/env"
)

// A process without PMI is refused where another launcher has started several.
func TestMayBeAlone(t *testing.T) {
	for _, c := range []struct {
		name, set string
		want      string // a part of the error; "" if it may be alone
	}{
		{"no launcher", "", ""},
		{"srun", "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4", "is one of 4 that srun started (SLURM_STEP_NUM_TASKS=4)"},
		{"srun names what mends it", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2", "start the program with srun --mpi=pmi2 or Banyan's mpiexec (banyan run), or set " + env.Alone + "=1 "},
		{"srun -n 1", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", ""},
		{"a batch script of 4 tasks", "SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_NPROCS=4", ""},
		{"srun --mpi=pmix", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 PMIX_RANK=0 PMIX_NAMESPACE=slurm.pmix.7.0", "srun --mpi=pmi2"},
		{"srun --mpi=pmix -n 1", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 PMIX_RANK=0", ""},
		{"Open MPI", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=8 PMIX_RANK=0", "is one of 8 that Open MPI's mpirun started"},
		{"Open MPI has no PMI-1", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=8", "start the program with Banyan's mpiexec"},
		{"Open MPI, 1 process", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMIX_RANK=0", ""},
		{"Open MPI, 1 process in each of 4 tasks", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4", "one of 4 that srun"},
		{"PMIx", "PMIX_RANK=1 PMIX_NAMESPACE=prterun-1", "was started by a launcher that speaks PMIx (PMIX_RANK=1)"},
		{"Flux", "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=4", "flux run -o pmi=simple"},
		{"Flux, 1 process", "FLUX_TASK_RANK=0 FLUX_JOB_SIZE=1", ""},
		{"PALS", "PALS_RANKID=0 PMI_RANK=0 PMI_SIZE=6", "one of 6 that PALS' mpiexec"},
		{"PALS, 1 process", "PALS_RANKID=0 PMI_RANK=0 PMI_SIZE=1", ""},
		{"jsrun", "JSM_NAMESPACE_RANK=0 JSM_NAMESPACE_SIZE=6 PMIX_RANK=0", "one of 6 that jsrun"},
		{"a size without a process", "SLURM_STEP_NUM_TASKS=4", ""},
		{"no number", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=many", ""},
		{"the user knows", "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 " + env.Alone + "=1", ""},
		{"the user says no", "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 " + env.Alone + "=0", "one of 4"},
		{"the user's word is wrong", env.Alone + "=maybe", `="maybe" must be 1 or 0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, l := range otherLaunchers {
				t.Setenv(l.task, "")
				if l.size != "" {
					t.Setenv(l.size, "")
				}
			}
			t.Setenv(env.Alone, "")
			for _, s := range strings.Fields(c.set) {
				name, value, _ := strings.Cut(s, "=")
				t.Setenv(name, value)
			}
			err := mayBeAlone()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("with %s: %v, want %q", c.set, err, c.want)
			}
		})
	}
}
