package processes

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// roleVariable says what this program does when a test starts it as a process of a group.
const roleVariable = "PROCESSES_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role, path, _ := strings.Cut(os.Getenv(roleVariable), " "); role {
	case "":
		os.Exit(m.Run())
	case "write":
		t, err := OpenTable(path, 2)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		t.Word(1).Store(Monotonic())
		time.Sleep(time.Hour)
	case "fail":
		fmt.Fprintln(os.Stderr, "no such luck")
		os.Exit(3)
	case "parent": // starts a group, says which process it is, and is killed
		g, err := NewGroup([]string{os.Args[0]})
		if err != nil {
			os.Exit(1)
		}
		c, err := g.Start(Process{Name: "child", Env: []string{roleVariable + "=sleep"}})
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(c.Process.Pid)
		time.Sleep(time.Hour)
	default:
		time.Sleep(time.Hour)
	}
}

func group(t *testing.T) *Group {
	t.Helper()
	g, err := NewGroup([]string{os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func role(name string) []string { return []string{roleVariable + "=" + name} }

func runs(pid int) bool { return unix.Kill(pid, 0) == nil }

// A process writes times of the common clock to the table, and is gone when the group is closed.
func TestTable(t *testing.T) {
	table, err := NewTable("banyan test", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if _, err := OpenTable(table.Path(), 3); err == nil {
		t.Error("a table of another size was opened")
	}
	g := group(t)
	before := Monotonic()
	c, err := g.Start(Process{Name: "writer", Env: role("write " + table.Path())})
	if err != nil {
		t.Fatal(err)
	}
	if !WaitFor(g.Failed, 20*time.Second, func() bool { return table.Word(1).Load() != 0 }) {
		t.Fatal(g.Err("nothing was written"))
	}
	if pids, err := Running([]string{os.Args[0]}); err != nil || !slices.Contains(pids, c.Process.Pid) {
		t.Errorf("%v run, without %d: %v", pids, c.Process.Pid, err)
	}
	if at := table.Word(1).Load(); at < before || at > Monotonic() || table.Word(0).Load() != 0 {
		t.Errorf("written %d ns after the start, %d beside it", at-before, table.Word(0).Load())
	}
	g.Close()
	if runs(c.Process.Pid) {
		t.Error("the process outlives its group")
	}
	select {
	case <-g.Failed:
		t.Error("the group's own end counts as a failure")
	default:
	}
}

// A process that ends is a failure with its output, unless it may end.
func TestFailed(t *testing.T) {
	g := group(t)
	defer g.Close()
	if _, err := g.Start(Process{Name: "guest", Env: role("fail"), MayEnd: true}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-g.Failed:
		t.Error("a process that may end is a failure")
	case <-time.After(100 * time.Millisecond):
	}
	if _, err := g.Start(Process{Name: "host", Env: role("fail")}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-g.Failed:
	case <-time.After(20 * time.Second):
		t.Fatal("no failure")
	}
	if err := g.Err("what is overridden").Error(); !strings.Contains(err, "the host has ended: exit status 3") || !strings.Contains(err, "no such luck") {
		t.Error(err)
	}
}

// The processes of a bench that is killed die too.
func TestBenchKilled(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(program)
	parent.Env = append(os.Environ(), role("parent")...)
	parent.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer parent.Wait()
	defer parent.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || !runs(child) {
		t.Fatalf("child %q: %v", line, err)
	}
	parent.Process.Kill()
	if !WaitFor(nil, 20*time.Second, func() bool { return gone(child) }) {
		t.Error("a process outlives its bench")
	}
}

// gone says that a process has ended, reaped or not.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestWaitFor(t *testing.T) {
	if WaitFor(nil, 0, func() bool { return false }) {
		t.Error("what never comes has come")
	}
	stop := make(chan struct{})
	close(stop)
	if WaitFor(stop, time.Hour, func() bool { return false }) {
		t.Error("stopped, it has come")
	}
	if !WaitFor(stop, 0, func() bool { return true }) {
		t.Error("what has come hasn't")
	}
}

func TestPingPong(t *testing.T) {
	echoed := make(chan error, 1)
	half, err := PingPong(1000, func(address string) error {
		go func() { echoed <- Echo(address, 1000) }()
		return nil
	})
	if err != nil || half <= 0 || half > time.Second {
		t.Errorf("half a round trip of %v, %v", half, err)
	}
	if err := <-echoed; err != nil {
		t.Error(err)
	}
}
