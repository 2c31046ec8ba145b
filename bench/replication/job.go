package replication

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// running are jobs that were started at once.
type running struct {
	commands []*exec.Cmd
	outs     []*bytes.Buffer
	errs     []*bytes.Buffer
	ended    chan error // of each
	left     int        // that haven't ended
	waits    sync.WaitGroup
}

// start starts jobs, given as the command lines of their launchers. They end with the context, and
// with the bench: if it is killed the kernel interrupts them, so that none is left to disturb the
// one that goes on.
func start(ctx context.Context, jobs [][]string) (*running, error) {
	r := &running{ended: make(chan error, len(jobs))}
	started := make(chan error)
	go func() {
		// The kernel signals when the thread ends that started a process, so that has to last.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		started <- r.start(ctx, jobs)
		r.waits.Wait()
	}()
	if err := <-started; err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

func (r *running) start(ctx context.Context, jobs [][]string) error {
	for _, j := range jobs {
		cmd := exec.CommandContext(ctx, j[0], j[1:]...)
		out, err := new(bytes.Buffer), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, err
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // launchers clean up then
		cmd.WaitDelay = 5 * time.Second
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
		if err := cmd.Start(); err != nil {
			return err
		}
		r.commands, r.outs, r.errs = append(r.commands, cmd), append(r.outs, out), append(r.errs, err)
		r.left++
		r.waits.Go(func() {
			e := cmd.Wait()
			if e != nil {
				e = fmt.Errorf("%v: %w\n%s", j[1:], e, bytes.TrimSpace(err.Bytes()))
			}
			r.ended <- e
		})
	}
	return nil
}

// wait waits for the end of all jobs, and stops the rest if one fails.
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

// cpu is the processor time of jobs that have ended: of launchers, and of the processes that they
// waited for.
func (r *running) cpu() (sum time.Duration) {
	for _, c := range r.commands {
		sum += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return sum
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
