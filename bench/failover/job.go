package failover

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// job is one that was started.
type job struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
	err            error // to be read after ended
}

// start starts a job, which ends with the context.
func (b *Bench) start(ctx context.Context, dir string) (*job, error) {
	args := slices.Concat(b.Launcher[1:], []string{"--host", b.Hosts, "-n", strconv.Itoa(b.Ranks), "--replicas", strconv.Itoa(replicas),
		"--heartbeat-timeout", b.Timeout.String(), b.Program, dir, strconv.Itoa(b.Steps)})
	j := &job{cmd: exec.CommandContext(ctx, b.Launcher[0], args...), ended: make(chan struct{})}
	j.cmd.Stdout, j.cmd.Stderr = &j.stdout, &j.stderr
	j.cmd.Cancel = func() error { return j.cmd.Process.Signal(os.Interrupt) } // the launcher cleans up then
	j.cmd.WaitDelay = 15 * time.Second                                        // more than a lease
	if err := j.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(j.ended)
		j.err = j.cmd.Wait()
	}()
	return j, nil
}

// over says whether a job has ended.
func (j *job) over() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// wait waits for the end of a job, and ends it before if it is of no use any more.
func (j *job) wait(useless bool) error {
	if useless {
		_ = j.cmd.Process.Signal(os.Interrupt) // it may have ended
		select {
		case <-j.ended:
		case <-time.After(j.cmd.WaitDelay):
			_ = j.cmd.Process.Kill()
		}
	}
	<-j.ended
	if j.err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(j.cmd.Args[1:], " "), j.err, strings.TrimSpace(j.stderr.String()))
	}
	return nil
}
