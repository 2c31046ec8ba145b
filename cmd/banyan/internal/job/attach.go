package job

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
)

const attachLong = `Attach shows a job that was started with --detach or --on-console-loss=continue, and ends with
its exit code. JOB is its name, as banyan jobs shows it, or the beginning of it; without JOB there
must be one job alone.

The output goes on where it was left: what other consoles have shown doesn't appear again. Input
and signals (Ctrl-C) go to the job. Ctrl-\ detaches: the job goes on. If another console is
attached already, this one only watches, as it does with --watch.

With --output, stdout goes to a file, behind what that holds. If this command is killed and called
again, no byte is missing or there twice. On a terminal or a pipe the last piece may be.

A job that has ended while no console was attached is kept for 24 hours: attach shows the rest of
its output and ends with its exit code, once.

Exit code: the job's; 1 if its launcher has died; 2 if there is no such job.`

const attachExample = `  banyan attach
  banyan attach heat-4f2a1c
  banyan attach heat --watch
  banyan attach heat --output heat.out`

// AttachCommand returns banyan attach.
func AttachCommand() *cobra.Command {
	var watch bool
	var output string
	cmd := &cobra.Command{
		Use:     "attach [JOB]",
		Short:   "Show a job that was started elsewhere, and end with its exit code",
		Long:    attachLong,
		Example: attachExample,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return attach(append(args, "")[0], watch, output)
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show the output alone: pass no input, and no signals")
	cmd.Flags().StringVar(&output, "output", "", "write the program's stdout to `FILE`, behind what it holds")
	return cmd
}

const (
	// endingPause is how long attach waits for a job that ends just now, endingTries how often.
	endingPause = 50 * time.Millisecond
	endingTries = 100
)

// attach shows a job.
func attach(job string, watch bool, output string) error {
	v := newViewer(true)
	defer v.close()
	v.Watch = watch
	if watch && output != "" {
		return errors.New("--watch can't write a file without gaps: leave --output out")
	}
	if !watch {
		v.Stdin = attachedInput()
	}
	for try := 1; ; try++ {
		folder, name, err := console.Find(job)
		if err != nil {
			return err
		}
		job = name
		if output != "" && v.File == nil {
			file, err := console.OpenFile(output, job)
			if err != nil {
				return fmt.Errorf("--output: %w", err)
			}
			defer file.Close()
			v.File = file
		}
		conn, done, err := open(folder, name)
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

// open connects to a job that runs, or has ended and is kept. done is to be called at last.
func open(folder console.Folder, name string) (conn net.Conn, done func(), err error) {
	if folder.Kept(name) {
		return folder.Reopen(name)
	}
	conn, err = folder.Dial(name)
	if err != nil {
		return nil, nil, gone(folder, name)
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
