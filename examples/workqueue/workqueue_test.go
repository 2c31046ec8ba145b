package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/group"
)

func TestMain(m *testing.M) {
	if os.Getenv("WORKQUEUE_TEST_WORKER") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// worker is a process of the program under test.
type worker struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func start(t *testing.T, args ...string) worker {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "WORKQUEUE_TEST_WORKER=1", "GROUP_SECRET=a secret of the test")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
	})
	return worker{cmd, bufio.NewReader(out)}
}

// await reads lines until one contains all texts.
func (w worker) await(t *testing.T, texts ...string) string {
	t.Helper()
	for {
		line, err := w.out.ReadString('\n')
		if err != nil {
			t.Fatalf("no line with %q: %v", texts, err)
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			return line
		}
	}
}

// Three workers share the work. One is killed and comes back. Every task is done once.
func TestWorkQueue(t *testing.T) {
	const tasks = 60
	directory := t.TempDir()
	anna := start(t, "-name", "anna", "-add", fmt.Sprint(tasks), "-each", "30ms", directory)
	line := anna.await(t, " at ")
	address := strings.TrimSpace(line[strings.LastIndex(line, " ")+1:])
	bert := start(t, "-name", "bert", "-seeds", address, "-each", "30ms", directory)
	cleo := start(t, "-name", "cleo", "-seeds", address, "-each", "30ms", directory)
	anna.await(t, "bert.", "cleo.") // anna has a view with both
	bert.cmd.Process.Kill()
	anna.await(t, "died [bert")
	bert = start(t, "-name", "bert", "-seeds", address, "-each", "30ms", directory)
	for _, w := range []worker{anna, cleo, bert} {
		w.await(t, "tasks are mine")
		for {
			if _, err := w.out.ReadString('\n'); err != nil {
				break // the worker has ended
			}
		}
		if err := w.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	todo, _ := os.ReadDir(filepath.Join(directory, "todo"))
	done, _ := os.ReadDir(filepath.Join(directory, "done"))
	if len(todo) > 0 || len(done) != tasks {
		t.Errorf("%d tasks to do, %d done, want 0 and %d", len(todo), len(done), tasks)
	}
	by := map[string]int{}
	for _, e := range done {
		text, err := os.ReadFile(filepath.Join(directory, "done", e.Name()))
		if err != nil {
			t.Error(err)
		}
		by[strings.TrimSpace(string(text))]++
	}
	t.Log(by)
	if len(by) < 3 {
		t.Errorf("not all of the workers worked: %v", by)
	}
}

// A member that goes moves only its own tasks, and shares are about equal.
func TestOwner(t *testing.T) {
	view := func(names ...string) (v group.View) {
		for _, n := range names {
			v.Members = append(v.Members, group.Identity{Name: n})
		}
		return v
	}
	const tasks = 3000
	count := map[string]int{}
	for i := range tasks {
		task := fmt.Sprintf("%04d", i)
		before, after := owner(task, view("anna", "bert", "cleo")), owner(task, view("anna", "cleo"))
		count[before]++
		if before != "bert" && before != after {
			t.Errorf("task %s moves from %s to %s, though bert went", task, before, after)
		}
	}
	for name, n := range count {
		if n < tasks/3*8/10 || n > tasks/3*12/10 {
			t.Errorf("%s has %d of %d tasks", name, n, tasks)
		}
	}
}
