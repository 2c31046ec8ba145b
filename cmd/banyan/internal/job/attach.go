package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
	"banyan/internal/job/reach"
)

const attachLong = `Attach shows a job that was started with --detach or --on-console-loss=continue, and ends with
its exit code. JOB is its name, as banyan jobs shows it, or the beginning of it; without JOB there
must be one job alone. HOST:JOB, or --host, is a job whose launcher is on another machine: it is
reached by ssh, or by --launch-agent.

The output goes on where it was left: what other consoles have shown doesn't appear again. Input
and signals (Ctrl-C) go to the job. Ctrl-\ detaches: the job goes on. If another console is
attached already, this one only watches, as it does with --watch.

With --output, stdout goes to a file, behind what that holds. If this command is killed and called
again, no byte is missing or there twice. On a terminal or a pipe the last piece may be.

A job that has ended while no console was attached is kept for 24 hours: attach shows the rest of
its output and ends with its exit code, once.

If the launcher of a job over several hosts dies and one of its agents goes on, this command finds the
next launcher on the job's hosts, by the means that started its agents, and goes on showing the job.

Exit code: the job's; 1 if its launcher has died; 2 if there is no such job.`

const attachExample = `  banyan attach
  banyan attach heat-4f2a1c
  banyan attach heat --watch
  banyan attach heat --output heat.out
  banyan attach h1:heat                     # from another machine, by ssh`

// AttachCommand returns banyan attach.
func AttachCommand() *cobra.Command {
	var watch bool
	var output, host, launch string
	var raw time.Duration
	cmd := &cobra.Command{
		Use:     "attach [[HOST:]JOB]",
		Short:   "Show a job that was started elsewhere, and end with its exit code",
		Long:    attachLong,
		Example: attachExample,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			job := append(args, "")[0]
			if raw > 0 {
				return relay(job, raw)
			}
			if i := strings.LastIndexByte(job, ':'); i >= 0 && host == "" {
				host, job = job[:i], job[i+1:]
			}
			if strings.Contains(host, ",") {
				return fmt.Errorf("the job's launcher is on one host, and there are several in %q: banyan jobs --host %s says which", host, host)
			}
			return attach(host, launch, job, watch, output)
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show the output alone: pass no input, and no signals")
	cmd.Flags().StringVar(&output, "output", "", "write the program's stdout to `FILE`, behind what it holds")
	cmd.Flags().StringVar(&host, "host", "", "the job's launcher is on `HOST`: reach it there by ssh (HOST:JOB is the same)")
	cmd.Flags().StringVar(&launch, "launch-agent", "", "reach the host by `COMMAND` with {host} and {agent} in it, as banyan run does (default ssh, or $BANYAN_SSH)")
	cmd.Flags().DurationVar(&raw, "raw", 0, "pass on the connection to the job on stdin and stdout, and wait up to a `TIME` for it")
	cmd.Flags().MarkHidden("raw")
	return cmd
}

// relay passes on a connection to a job, for a console on another host.
func relay(job string, wait time.Duration) error {
	end := func() {}
	err := reach.Relay(os.Stdin, os.Stdout, wait, func() (net.Conn, string, error) {
		folder, name, err := console.Find(job)
		if err != nil {
			return nil, "", err
		}
		conn, done, err := open(folder, name, false)
		end = done
		return conn, name, err
	})
	if err != nil {
		return cli.Failed(err)
	}
	end()
	return nil
}

// attachThere shows a job whose launcher is on another host.
func (v *viewer) attachThere(host, launch, job string, openOutput func(job string) error) error {
	r, err := reachOf([]string{host}, launch)
	if err != nil {
		return err
	}
	conn, name, err := reach.Dial(context.Background(), r, host, job, time.Second)
	if err != nil {
		return cli.Failed(err)
	}
	if err := openOutput(name); err != nil {
		conn.Close()
		return err
	}
	v.from = r
	o, err := v.follow("", name, conn)
	if err != nil {
		return cli.Failed(err)
	}
	return v.result(o)
}

// reachOf is how hosts are reached that the user names.
func reachOf(hosts []string, launch string) (*console.Reach, error) {
	how, err := howTo(launch)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, cli.Failed(err)
	}
	return &console.Reach{Words: how.Words, Self: self, Hosts: hosts}, nil
}

const (
	// endingPause is how long attach waits for a job that ends just now, endingTries how often.
	endingPause = 50 * time.Millisecond
	endingTries = 100
)

// attach shows a job.
func attach(host, launch, job string, watch bool, output string) error {
	v := newViewer(true)
	defer v.close()
	v.Watch = watch
	if watch && output != "" {
		return errors.New("--watch can't write a file without gaps: leave --output out")
	}
	if !watch {
		v.Stdin = attachedInput()
	}
	openOutput := func(job string) error {
		if output == "" || v.File != nil {
			return nil
		}
		file, err := console.OpenFile(output, job)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		v.File = file
		return nil
	}
	defer func() {
		if v.File != nil {
			v.File.Close()
		}
	}()
	if host != "" {
		return v.attachThere(host, launch, job, openOutput)
	}
	for try := 1; ; try++ {
		folder, name, err := console.Find(job)
		if err != nil {
			return err
		}
		job = name
		if err := openOutput(job); err != nil {
			return err
		}
		conn, done, err := open(folder, name, true)
		if err == nil {
			var o console.Outcome
			if o, err = v.follow(folder, name, conn); err == nil {
				done()
				folder.AwaitGone(name, endLimit)
				return v.result(o)
			}
			done()
		}
		if !errors.Is(err, console.ErrNotWelcome) || try == endingTries {
			return cli.Failed(err)
		}
		time.Sleep(endingPause) // it ends just now: soon its end is kept
	}
}

// open connects to a job that runs, or has ended and is kept. done is to be called at last. shown
// says that somebody will see the error.
func open(folder console.Folder, name string, shown bool) (conn net.Conn, done func(), err error) {
	if folder.Kept(name) {
		return folder.Reopen(name)
	}
	conn, err = folder.Dial(name)
	if err != nil {
		return nil, nil, gone(folder, name, shown)
	}
	return conn, func() {}, nil
}

// attachedInput is the input that an attached console passes on: none, not even its end, if that
// is a device such as /dev/null.
func attachedInput() io.Reader {
	if cli.IsTerminal(os.Stdin) && !isTerminal(os.Stdin) {
		return nil
	}
	return jobInput()
}
