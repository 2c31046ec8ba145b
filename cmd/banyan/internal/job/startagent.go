package job

import (
	"context"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/agent/guard"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/starter"
	"banyan/internal/job/succession"
)

// StartAgentCommand returns banyan start-agent, which starters run on other hosts. newPage makes
// what shows jobs.
func StartAgentCommand(newPage func() Page) *cobra.Command {
	return &cobra.Command{
		Use:    "start-agent",
		Short:  "Start an agent as stdin orders it (for ssh and srun)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			parent, ok := guard.Inside()
			if !ok {
				return guarded()
			}
			defer parent.Done()
			// The processes of the job mustn't read its key here.
			if err := secure.HideMemory(); err != nil {
				return cli.Failed(err)
			}
			extend, err := obeyLease()
			if err != nil {
				return cli.Failed(err)
			}
			// Whatever has started this may go away while the job goes on: a write to it then
			// fails, and ends nothing.
			signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE, unix.SIGHUP)
			ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
			defer stop()
			page := newPage()
			defer page.Close()
			peers := func(key secure.Key) (remote.Peers, func()) {
				m := succession.NewMember(key, extend, leaving(parent), 0, page.State)
				return m, m.Close
			}
			if err := starter.Follow(ctx, os.Stdin, os.Stdout, remote.Config{Charge: parent.Charge, Sweep: parent.Sweep, Extend: extend, Page: page}, parent.Sweep, peers); err != nil {
				return cli.Exit(1, err)
			}
			return nil
		},
	}
}
