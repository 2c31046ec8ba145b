package peers

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	if got := SpreadOf([]float64{4, 1, 3, 2, 5}); got != (Spread{3, 2, 4}) {
		t.Error(got)
	}
	if got := SpreadOf([]float64{1, 2}); got != (Spread{1.5, 1.25, 1.75}) {
		t.Error(got)
	}
	if got := SpreadOf(nil); !math.IsNaN(got.Median) {
		t.Error(got)
	}
}

func TestResult(t *testing.T) {
	libraries := []Library{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	x := compare(libraries, [][]float64{{10, 20, 30}, {10, 10, 10}, {5, 20, 6}, nil})
	if x.Better != "c" || x.Ratio.Median != 2 || x.Times[1].Median != 10 || !math.IsNaN(x.Times[3].Median) {
		t.Errorf("%+v", x)
	}
	y := compare(libraries, [][]float64{{10}})
	if y.Better != "" || !math.IsNaN(y.Ratio.Median) {
		t.Errorf("%+v", y)
	}
	if m := Mean([]Comparison{x, y, {Ratio: Spread{Median: 8}}}); math.Abs(m-4) > 1e-12 {
		t.Error(m)
	}
	if m := Mean([]Comparison{y}); !math.IsNaN(m) {
		t.Error(m)
	}
}

// The floor is built and measured; a missing library is reported.
func TestFloor(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	b, missing, err := Build(t.TempDir(), []Library{{Name: "none", CC: "/nonexistent/mpicc"}})
	if err != nil || len(missing) != 1 || len(b.Libraries) != 0 {
		t.Fatal(b, missing, err)
	}
	if testing.Short() {
		return
	}
	if ns, err := b.Floor(context.Background()); err != nil || ns <= 0 {
		t.Error(ns, err)
	}
}

// Both processes of the floor end when the first is killed, as a bench that is killed leaves them.
func TestFloorKilled(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	b, _, err := Build(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for try := 0; ; try++ { // it may be through before it is looked at
		floor := exec.Command(b.floor)
		if err := floor.Start(); err != nil {
			t.Fatal(err)
		}
		pid := floor.Process.Pid
		var child int
		for child == 0 && syscall.Kill(pid, 0) == nil && !ended(pid) {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			child, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		through := ended(pid)
		floor.Process.Kill()
		_ = floor.Wait()
		if through || child == 0 {
			if try == 20 {
				t.Fatal("it was through before it could be killed, 20 times")
			}
			continue
		}
		for until := time.Now().Add(20 * time.Second); !ended(child); time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				syscall.Kill(child, syscall.SIGKILL)
				t.Fatal("the other process waits for the killed one")
			}
		}
		return
	}
}

// ended tells whether a process is no more, but perhaps for its exit code.
func ended(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(text), ") ")
	return err != nil || strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}

// A program that prints no number, or doesn't exist, is an error.
func TestNumber(t *testing.T) {
	if _, err := number(context.Background(), nil, "echo", "x"); err == nil {
		t.Error("x is no number")
	}
	if _, err := number(context.Background(), nil, "/nonexistent"); err == nil {
		t.Error("it doesn't exist")
	}
	if n, err := number(context.Background(), []string{"N=3"}, "sh", "-c", "echo $N"); err != nil || n != 3 {
		t.Error(n, err)
	}
}
