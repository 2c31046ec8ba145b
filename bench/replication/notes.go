package replication

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"banyan/bench/processes"
)

// Processes and the bench talk through files in a directory of the job's own: note-PROCESS-PID. C
// programs do the same (programs/pingpong.c).

// startLimit is how long jobs may take until their processes are ready.
const startLimit = 30 * time.Second

// note is what a process has said.
type note struct {
	process, pid int // the process's number in its job, and the system's
	a, b         int64
}

// say writes a note of this process.
func say(dir, what string, a, b int64) error {
	fresh := filepath.Join(dir, fmt.Sprintf("new-%d", os.Getpid()))
	if err := os.WriteFile(fresh, fmt.Appendf(nil, "%d %d\n", a, b), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(dir, fmt.Sprintf("%s-%d-%d", what, self(), os.Getpid())))
}

// self is the number of this process in its job.
func self() int {
	n, _ := strconv.Atoi(os.Getenv("PMI_RANK")) // 0 without a launcher
	return n
}

// said reads what processes have said.
func said(dir, what string) ([]note, error) {
	names, err := filepath.Glob(filepath.Join(dir, what+"-*-*"))
	if err != nil {
		return nil, err
	}
	var all []note
	for _, name := range names {
		var n note
		content, err := os.ReadFile(name)
		if err == nil {
			_, err = fmt.Sscan(string(content), &n.a, &n.b)
		}
		if err == nil {
			_, err = fmt.Sscanf(strings.TrimPrefix(filepath.Base(name), what), "-%d-%d", &n.process, &n.pid)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, n)
	}
	return all, nil
}

// ready says that this process is ready, and waits for the word to go. It returns what that says.
func ready(dir string) (at int64, err error) {
	if err := say(dir, "ready", 0, 0); err != nil {
		return 0, err
	}
	name := filepath.Join(dir, "go")
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if content, err := os.ReadFile(name); err == nil {
			return strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		}
	}
	return 0, errors.New("nobody says when to begin")
}

// letGo waits until so many processes are ready, and tells them to go at a time of the monotonic
// clock. It returns their notes.
func (r *running) letGo(dir string, processCount int, at func() int64) ([]note, error) {
	var all []note
	var err error
	if !processes.WaitFor(nil, startLimit, func() bool {
		all, err = said(dir, "ready")
		return err != nil || len(all) >= processCount || len(r.ended) > 0
	}) {
		return nil, errors.New("a job doesn't come to its first message")
	}
	if err != nil || len(all) < processCount {
		return nil, errors.Join(err, r.wait(), errors.New("a job ended too early"))
	}
	fresh := filepath.Join(dir, "new-go")
	if err := os.WriteFile(fresh, fmt.Appendln(nil, at()), 0o644); err != nil {
		return nil, err
	}
	return all, os.Rename(fresh, filepath.Join(dir, "go"))
}
