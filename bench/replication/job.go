package replication

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// job is one job's launcher to start.
type job struct {
	command []string
	cores   []int // where it may run; none: wherever the bench may
}

// running are jobs that were started at once.
type running struct {
	commands []*exec.Cmd
	outs     []*bytes.Buffer
	errs     []*bytes.Buffer
	ended    chan error // of each
	left     int        // that haven't said so
}

// start starts jobs, which end with the context.
func start(ctx context.Context, jobs []job) (*running, error) {
	r := &running{ended: make(chan error, len(jobs))}
	for _, j := range jobs {
		cmd := exec.CommandContext(ctx, j.command[0], j.command[1:]...)
		out, err := new(bytes.Buffer), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, err
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // launchers clean up then
		cmd.WaitDelay = 5 * time.Second
		if err := onCores(j.cores, cmd.Start); err != nil {
			r.stop()
			return nil, err
		}
		r.commands, r.outs, r.errs = append(r.commands, cmd), append(r.outs, out), append(r.errs, err)
		r.left++
		go func() {
			e := cmd.Wait()
			if e != nil {
				e = fmt.Errorf("%v: %w\n%s", j.command[1:], e, bytes.TrimSpace(err.Bytes()))
			}
			r.ended <- e
		}()
	}
	return r, nil
}

// wait waits for the end of all, and stops the rest if one fails.
func (r *running) wait() error {
	for r.left > 0 {
		r.left--
		if err := <-r.ended; err != nil {
			r.stop()
			return err
		}
	}
	return nil
}

// stop ends jobs and waits for them.
func (r *running) stop() {
	for _, c := range r.commands {
		_ = c.Process.Signal(os.Interrupt) // it may have ended
	}
	late := time.AfterFunc(5*time.Second, func() {
		for _, c := range r.commands {
			_ = c.Process.Kill()
		}
	})
	defer late.Stop()
	for ; r.left > 0; r.left-- {
		<-r.ended
	}
}

// onCores calls start on a thread that may run on some cores only, which what it starts inherits.
func onCores(cores []int, start func() error) error {
	if len(cores) == 0 {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	for _, c := range cores {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	defer unix.SchedSetaffinity(0, &before)
	return start()
}
