package recovery

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// buildKept builds a program of testdata for the library of checkpoints of its name.
func buildKept(t *testing.T, name string) string {
	t.Helper()
	return cprogram.Build(t, "mpicc", "../testdata/"+name+".c", append(strikesPauses(),
		"-O1", "-Wall", "-Wextra", "-Werror", "-I"+filepath.Join(cprogram.Header(), "banyan"), "-lbanyan-"+name)...)
}

// Programs that were written for VeloC's and FTI's interfaces lose ranks, and print to the byte
// what they print undisturbed. They go back, or their dead replicas are replaced, or another job
// goes on.
func TestCheckpoints(t *testing.T) {
	programs := map[string]string{"veloc": buildKept(t, "veloc"), "fti": buildKept(t, "fti")}
	for _, tc := range []struct {
		program, way string
		short        bool
	}{
		{"veloc", "mem", true},
		{"veloc", "phases", false},
		{"veloc", "file", true},
		{"fti", "snapshot", true},
		{"fti", "checkpoint", false},
		{"fti", "icp", false},
		{"fti", "grows", true},
	} {
		t.Run(tc.program+" "+tc.way, func(t *testing.T) {
			if testing.Short() && !tc.short {
				t.Skip("others take the same ways")
			}
			program := programs[tc.program]
			calm := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", program, "500", "0", tc.way)
			if calm.Code != 0 || !strings.Contains(calm.Stderr, "this job keeps no checkpoints: banyan run needs --rollback, or --replicas 2 --heal") {
				t.Fatal(calm)
			}
			args := []string{program, "500", "2000", tc.way}
			back := struck(t, []string{"0:150:1000", "1:200:0"}, nil, append([]string{"run", "-n", "3", "--rollback", "--snapshot-every", "50ms"}, args...)...)
			if back.Code != 0 || byRank(back.Stdout) != byRank(calm.Stdout) || !strings.Contains(back.Stderr, "goes back to snapshot") ||
				tc.way != "snapshot" && !strings.Contains(back.Stderr, "rank 0 restarts") || strings.Contains(back.Stderr, "other bytes to stdout") {
				t.Errorf("rolled back: %v\nundisturbed: %v", back, calm)
			}
			healed := heal(t, 1, nil, program, args[1:]...)
			if healed.Code != 0 || byRank(healed.Stdout) != byRank(calm.Stdout) || !strings.Contains(healed.Stderr, "is back") {
				t.Errorf("healed: %v\nundisturbed: %v", healed, calm)
			}
		})
	}
}

// Another job goes on from the checkpoints that a lost one has left on disk.
func TestCheckpointsOnDisk(t *testing.T) {
	program := buildKept(t, "veloc")
	kept := filepath.Join(t.TempDir(), "kept")
	calm := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", program, "200", "0", "mem")
	args := []string{"run", "-n", "2", "--rollback", "--snapshot-every", "40ms", "--snapshot-dir", kept}
	script := fmt.Sprintf(`%s %s %s 200 6000 mem &
until ls %s/snapshot-[1-9][0-9]/manifest; do kill -0 $! || exit; sleep 0.02; done
kill -9 $!`, cprogram.Tool("banyan"), strings.Join(args, " "), program, kept)
	if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if found, _ := os.ReadDir(kept); len(found) == 0 {
		t.Fatal("nothing is kept")
	}
	o := cprogram.Run(t, cprogram.Tool("banyan"), append(append(args, "--resume"), program, "200", "0", "mem")...)
	if o.Code != 0 || !strings.Contains(o.Stderr, "rank 1 restarts from ") || !strings.HasSuffix(byRank(calm.Stdout), last(byRank(o.Stdout))) || strings.Contains(o.Stdout, "step 25:") {
		t.Errorf("%v\nundisturbed: %v", o, calm)
	}
}

// last is the last line of a text.
func last(text string) string {
	lines := strings.SplitAfter(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1] + "\n"
}

// Wrong calls fail, with a line that says why.
func TestCheckpointErrors(t *testing.T) {
	source := filepath.Join(t.TempDir(), "wrong.c")
	text := `#include <stdio.h>
#include <veloc.h>
int main(int argc, char **argv)
{
	int x = 0, codes[16], n = 0;
	MPI_Init(&argc, &argv);
	codes[n++] = VELOC_Checkpoint("a", 1);
	codes[n++] = VELOC_Init(MPI_COMM_WORLD, "");
	codes[n++] = VELOC_Init(MPI_COMM_WORLD, "");
	codes[n++] = VELOC_Init_single(3, "");
	codes[n++] = VELOC_Mem_protect(1, NULL, 1, 8);
	codes[n++] = VELOC_Mem_protect(1, &x, (size_t)-1, 8);
	codes[n++] = VELOC_Mem_unprotect(5);
	codes[n++] = VELOC_Restart_test("a", 0);
	codes[n++] = VELOC_Restart("a", 4);
	codes[n++] = VELOC_Checkpoint("", 4);
	codes[n++] = VELOC_Checkpoint_mem();
	codes[n++] = VELOC_Checkpoint_begin("a", 4);
	codes[n++] = VELOC_Restart_test("a", 0);
	codes[n++] = VELOC_Checkpoint_end(0);
	codes[n++] = VELOC_Checkpoint_end(1);
	codes[n++] = VELOC_Finalize(0);
	for (int i = 0; i < n; i++)
		printf("%d ", codes[i]);
	MPI_Finalize();
}
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	program := cprogram.Build(t, "mpicc", source, "-I"+filepath.Join(cprogram.Header(), "banyan"), "-lbanyan-veloc")
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "1", program)
	if want := "-1 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 0 -1 -1 -1 0 "; o.Code != 0 || o.Stdout != want {
		t.Errorf("%v\nwant %s", o, want)
	}
	for _, want := range []string{
		"VELOC_Checkpoint_begin before VELOC_Init", "VELOC_Init is called twice", "all ranks of a job go back together",
		"VELOC_Restart_begin: this process doesn't go on from a checkpoint", "VELOC_Checkpoint_mem is called in a checkpoint, and not outside",
		"VELOC_Restart_test is called outside of a checkpoint or restart, and not in a checkpoint",
	} {
		if !strings.Contains(o.Stderr, want) {
			t.Errorf("it doesn't say %q: %v", want, o)
		}
	}
}
