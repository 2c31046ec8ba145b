package test

import (
	"os/exec"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A program that a launcher without PMI-1 has started several times over says so, instead of being
// as many jobs of one.
func TestOneOfSeveral(t *testing.T) {
	programs := map[string]string{"C": cprogram.Compile(t, "plain")}
	if _, err := exec.LookPath("gfortran"); err == nil {
		programs["Fortran"] = cprogram.Build(t, "mpif77", "../../fortran/testdata/fixed.f")
	}
	t.Setenv("SLURM_PROCID", "1")
	t.Setenv("SLURM_STEP_NUM_TASKS", "4")
	for language, program := range programs {
		o := cprogram.Run(t, program)
		const want = "banyan: MPI_Init: joining the job: this process is one of 4 that srun started (SLURM_STEP_NUM_TASKS=4)"
		if o.Code != 1 || !strings.HasPrefix(o.Stderr, want) || strings.Count(o.Stderr, "\n") != 1 {
			t.Errorf("%s: %v", language, o)
		}
	}
	t.Setenv("SLURM_STEP_NUM_TASKS", "1")
	cprogram.Run(t, programs["C"]).Fine(t)
}

// Inside another launcher's job, "banyan run" works as elsewhere. What its ranks start are jobs of
// one, as elsewhere.
func TestRunInsideAnotherJob(t *testing.T) {
	plain, starts := cprogram.Compile(t, "plain"), cprogram.Compile(t, "starts")
	t.Setenv("SLURM_PROCID", "1")
	t.Setenv("SLURM_STEP_NUM_TASKS", "4")
	t.Setenv("PMIX_RANK", "1")
	for _, n := range []int{1, 2} {
		cprogram.Job(t, n, plain).Fine(t)
		cprogram.Job(t, n, starts, plain).Fine(t)
	}
	cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", plain).Fine(t)
}
