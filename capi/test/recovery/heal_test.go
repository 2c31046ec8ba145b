package recovery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/testing/cprogram"
)

// heal runs a program as three ranks of two replicas. A fault kills a replica of a rank. When the
// launcher says that the replica has been replaced, the donor of the replacement is killed.
func heal(t *testing.T, rank int, flags []string, program string, args ...string) cprogram.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := append([]string{"run", "-n", "3", "--replicas", "2", "--heal",
		"--fault", fmt.Sprintf("kill rank=%d replica=1 at=send:200", rank)}, append(append(flags, program), args...)...)
	cmd := exec.CommandContext(ctx, cprogram.Tool("banyan"), command...)
	var stdout bytes.Buffer
	stderr := &donorKiller{of: cmd, number: rank}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = numbers(), &stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("banyan %v hangs\nstdout: %.2000s\nstderr: %.2000s", command, &stdout, &stderr.said)
	}
	if !stderr.done {
		t.Errorf("no replica was replaced\nstderr: %.2000s", &stderr.said)
	}
	return cprogram.Outcome{Stdout: stdout.String(), Stderr: stderr.said.String(), Code: cmd.ProcessState.ExitCode()}
}

// numbers returns input that is larger than any buffer.
func numbers() io.Reader {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintln(&text, i*i%9973)
	}
	return strings.NewReader(text.String())
}

// donorKiller is the launcher's stderr. When the launcher says that a replica is back, donorKiller
// kills replica 0 of that rank.
type donorKiller struct {
	of     *exec.Cmd
	number int
	said   bytes.Buffer
	done   bool
}

func (a *donorKiller) Write(b []byte) (int, error) {
	if !a.done && bytes.Contains(b, []byte("is back")) {
		a.done = true
		if pid := childOf(a.of.Process.Pid, a.number); pid > 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return a.said.Write(b)
}

// A replica dies and is replaced, and then the donor of the replacement dies. The output is that of
// an undisturbed job, to the byte, whatever state the program had at the safe point.
func TestHeal(t *testing.T) {
	program := cprogram.Compile(t, "heal")
	args := []string{"1000", "1000"} // pauses let it last until a process is replaced
	want := cprogram.RunOn(t, numbers(), cprogram.Tool("banyan"), "run", "-n", "3", program, "1000", "0")
	if want.Code != 0 {
		t.Fatal(want)
	}
	for rank, flags := range [][]string{nil, {"--transport", "tcp"}, {"--protocol", "mirror"}} {
		if testing.Short() && rank > 0 {
			break
		}
		o := heal(t, rank, flags, program, args...)
		if o.Code != 0 || byRank(o.Stdout) != byRank(want.Stdout) || !strings.Contains(o.Stderr, "restored") {
			t.Errorf("rank %d %v: exit code %d\nstderr: %.3000s\nthe output is the same up to byte %d of %d", rank, flags, o.Code, o.Stderr,
				same(byRank(o.Stdout), byRank(want.Stdout)), len(want.Stdout))
		}
	}
}

// byRank sorts lines by rank, because the order of different ranks' lines is random.
func byRank(text string) string {
	var sorted [3]strings.Builder
	for line := range strings.Lines(text) {
		for r := range sorted {
			if strings.HasPrefix(line, fmt.Sprintf("rank %d ", r)) {
				sorted[r].WriteString(line)
			}
		}
	}
	return sorted[0].String() + sorted[1].String() + sorted[2].String()
}

func same(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Only rank 1 has several replicas. So rank 0, which gets the input, has no replica with the
// donor's number.
func TestHeatHeals(t *testing.T) {
	heat := cprogram.Build(t, "mpicc", "../../../examples/heat/heat.c", "-O2", "-lm")
	want := cprogram.Run(t, heat, "100", "1e-7").Stdout
	if o := heal(t, 1, []string{"--replicate", "1"}, heat, "100", "1e-7"); o.Code != 0 || o.Stdout != want {
		t.Errorf("%v\nundisturbed: %s", o, want)
	}
}

func TestFortranHeals(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	program := cprogram.Build(t, "mpifort", "../../../fortran/testdata/heal.f90", "-O2") // registered variables mustn't live in registers
	want := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", program, "1500", "0")
	if o := heal(t, 1, nil, program, "1500", "500"); o.Code != 0 || o.Stdout != want.Stdout || !strings.Contains(want.Stdout, "total ") {
		t.Errorf("%v\nundisturbed: %v", o, want)
	}
}
