package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
	"banyan/internal/study/table"
)

const hostsLong = `Hosts lists the hosts of a job that runs, adds hosts to it, and drains others. JOB is a name that
banyan jobs lists, or the beginning of one; without it the only job is meant.

A host runs processes, waits for replacements (those of processes that die, with --heal), drains,
has left, or is lost.`

const addLong = `Add starts agents on further hosts of a job that runs, by the same means as banyan run did (ssh,
srun or --launch-agent). They wait for replacements, which run there if the job was started with
--heal. The number behind a host's name is how many processes it may have; without it as many as
are needed.

Exit code: 0 if all hosts have come up; 1 if one hasn't, or the job ended first: stderr says why.`

const drainLong = `Drain moves the processes of hosts to others while the job runs: it ends them one by one, each when
another replica of its rank lives and another host can have the replacement, and waits until that
one has its state. Then the host leaves the job: its agent ends. That is what a notice of
preemption or maintenance asks for.

It refuses, and says which processes are in the way, if nothing could replace one: its rank has no
other replica that lives, all other hosts are full or run its other replicas, or the job was started
without --heal. With --force the host leaves all the same and these processes end. If a rank is lost
by that the job ends, unless the program handles it.

A process can be replaced once another replica of its rank has come to a safe point of the program.
--within bounds the wait. What is left then stays, or ends with --force. The drain goes on if this
command is interrupted.

Exit code: 0 if the hosts have left; 1 if not: stderr says why.`

// HostsCommand returns banyan hosts.
func HostsCommand() *cobra.Command {
	var format table.Format
	cmd := &cobra.Command{
		Use:     "hosts [JOB]",
		Short:   "List the hosts of a job that runs, add some, or drain some",
		Long:    hostsLong,
		Example: "  banyan hosts\n  banyan hosts heat-3f2a --format json\n  banyan hosts add heat-3f2a h7:8\n  banyan hosts drain heat-3f2a h3",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := askJob[[]console.Host](cmd.Context(), strings.Join(args, ""), console.HostsRequest, struct{}{})
			if err != nil {
				return err
			}
			if err := table.Write(os.Stdout, format, hostColumns(), all); err != nil {
				return cli.Failed(err)
			}
			return nil
		},
	}
	cli.FormatFlag(cmd.Flags(), &format)
	cmd.AddCommand(addCommand(), drainCommand())
	return cmd
}

// hostColumns are the columns of banyan hosts.
func hostColumns() []table.Column[console.Host] {
	return []table.Column[console.Host]{
		table.Col("host", func(h *console.Host) any { return h.Name }),
		table.Col("state", func(h *console.Host) any { return h.State }),
		table.Col("cores", func(h *console.Host) any { return h.Cores }),
		table.Col("processes", func(h *console.Host) any { return h.Processes }),
		table.Col("ranks", func(h *console.Host) any { return h.Ranks }),
		table.Col("reason", func(h *console.Host) any { return h.Reason }),
	}
}

func addCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "add JOB HOST[:SLOTS][,…]",
		Short:   "Add hosts to a job that runs",
		Long:    addLong,
		Example: "  banyan hosts add heat-3f2a h7:8\n  banyan hosts add heat h7:8,h8:8",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := askJob[console.HostsChanged](cmd.Context(), args[0], console.AddHostsRequest, console.AddHosts{Hosts: args[1]})
			if err != nil {
				return err
			}
			fmt.Println("added:", strings.Join(a.Names, ", "))
			return nil
		},
	}
}

func drainCommand() *cobra.Command {
	var q console.DrainHosts
	cmd := &cobra.Command{
		Use:     "drain JOB HOST[,HOST…]",
		Short:   "Move the processes of hosts elsewhere; then the hosts leave the job",
		Long:    drainLong,
		Example: "  banyan hosts drain heat-3f2a h3\n  banyan hosts drain heat h3,h4 --within 90s --force",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Within < 0 {
				return fmt.Errorf("--within is %v: want a time such as 90s", q.Within)
			}
			q.Names = strings.Split(args[1], ",")
			a, err := askJob[console.HostsChanged](cmd.Context(), args[0], console.DrainHostsRequest, q)
			if err != nil {
				return err
			}
			fmt.Println("left:", strings.Join(a.Names, ", "))
			return nil
		},
	}
	cmd.Flags().BoolVar(&q.Force, "force", false, "end processes that nothing can replace")
	cmd.Flags().DurationVar(&q.Within, "within", 0, "wait up to a `TIME`, such as 90s; what is left then stays, or ends with --force (default: as long as the job runs)")
	return cmd
}

// askJob asks a job, and shows on stderr what it tells meanwhile.
func askJob[Answer any](ctx context.Context, job, request string, question any) (a Answer, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	folder, name, err := console.FindRunning(job)
	if err != nil {
		return a, cli.Failed(err)
	}
	conn, err := folder.Dial(name)
	if err != nil {
		return a, cli.Failed(err)
	}
	began := time.Now()
	a, err = console.Ask[Answer](ctx, conn, request, question, func(text string) {
		if time.Since(began) > time.Second {
			fmt.Fprintln(os.Stderr, "banyan:", text)
		}
	})
	if errors.Is(err, context.Canceled) {
		return a, cli.Failedf("interrupted before %s had answered", name)
	}
	if err != nil {
		return a, cli.Failedf("%s: %w", name, err)
	}
	return a, nil
}
