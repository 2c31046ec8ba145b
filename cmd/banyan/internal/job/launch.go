package job

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
)

// LaunchCommand returns banyan launch-job, which banyan run starts as a launcher that outlives it.
func LaunchCommand(begin BeginWatch) *cobra.Command {
	return &cobra.Command{
		Use:                "launch-job FOLDER NAME own|console RUN-ARGUMENTS…",
		Short:              "Launch a job for consoles (for banyan run)",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) < 4 {
				return errors.New("banyan run calls this command, and nobody else")
			}
			code, err := launchJob(console.Folder(args[0]), args[1], args[2], args[3:], begin)
			if err != nil {
				return cli.Failed(err)
			}
			return cli.Exit(code, nil)
		},
	}
}

// launchJob runs a job for consoles, and returns its exit code.
func launchJob(folder console.Folder, name, input string, args []string, begin BeginWatch) (int, error) {
	first, err := console.FirstConsole()
	if err != nil {
		return 0, err
	}
	hub := console.NewHub()
	log.SetOutput(hub.Stderr())
	f := &runFlags{begin: begin}
	if err := f.parse(f.command(), args); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return 0, err // banyan run has parsed the same
	}
	c := &f.config
	c.Stdin, c.Stdout, c.Stderr, c.Screen = hub.Stdin(), hub.Stdout(), hub.Stderr(), hub.Screen(c.Label)
	c.Signals, c.Started = hub.Signals(), hub.Started
	if input == inputOwn {
		c.Stdin = os.Stdin
	}
	info := describeJob(name, *c)
	info.Reach = f.hosts.reach()
	c.Requests = console.NewServer(info, hub)
	f.will = f.makeWill(info, input != inputOwn)
	gone := make(chan struct{})
	go func() {
		c.Requests.Serve(first)
		close(gone)
	}()
	hub.AwaitOwner(gone) // or a job that can't start might have ended before
	code, err := 0, folder.Listen(c.Requests)
	if err == nil {
		code, err = cli.Code(f.run())
	} else {
		code = 1
	}
	if err != nil {
		fmt.Fprintln(hub.Stderr(), "banyan:", err)
	}
	if !hub.End(code) {
		if err := folder.Keep(hub, c.Requests.Info()); err != nil {
			return 0, fmt.Errorf("the end of the job (exit code %d) can't be kept: %w", code, err) // in its log
		}
	}
	f.finish(code) // the end is kept, or was shown
	f.close()
	folder.RemoveLog(name)
	c.Requests.Close()
	return code, nil
}
