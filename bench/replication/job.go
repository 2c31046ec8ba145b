package replication

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// running are jobs that were started at once.
type running struct {
	commands []*exec.Cmd
	outs     []*bytes.Buffer
	errs     []*bytes.Buffer
	ended    chan error // of each
	left     int        // that haven't ended
}

// start starts jobs, given as the command lines of their launchers. They end with the context.
func start(ctx context.Context, jobs [][]string) (*running, error) {
	r := &running{ended: make(chan error, len(jobs))}
	for _, j := range jobs {
		cmd := exec.CommandContext(ctx, j[0], j[1:]...)
		out, err := new(bytes.Buffer), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, err
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // launchers clean up then
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Start(); err != nil {
			r.stop()
			return nil, err
		}
		r.commands, r.outs, r.errs = append(r.commands, cmd), append(r.outs, out), append(r.errs, err)
		r.left++
		go func() {
			e := cmd.Wait()
			if e != nil {
				e = fmt.Errorf("%v: %w\n%s", j[1:], e, bytes.TrimSpace(err.Bytes()))
			}
			r.ended <- e
		}()
	}
	return r, nil
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
