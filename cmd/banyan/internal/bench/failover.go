package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/failover"
	"banyan/bench/replication"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/internal/study/table"
)

const failoverLong = `Failover measures how long a program stands still when a host is lost. A job with two replicas of
each rank adds up a number of all ranks again and again, a millisecond apart, and each process notes
the longest time from one sum to the next. In the middle a host is lost:

  agent     its agent is killed: the kernel ends the host's processes, and says so
  silence   its agent and its processes are stopped: others notice after the heartbeat timeout
  COMMAND   a shell command does it, as "ssh {host} poweroff -f"; {host}, {agent} and {processes} are
            the host's name and the numbers of its processes. --restore undoes it after the job

The gap is the longest time that a process of another host saw, with the pause of a millisecond; over
is how much longer than the heartbeat timeout (timeout_ms) that was. steady is the longest time in
the 500 steps before, which is what the machines do to a program without any loss: where it isn't much
shorter than the gap, the gap tells nothing.

No clocks are compared. Hosts share the directory --dir, and ssh (or $BANYAN_SSH) reaches them.`

type failoverFlags struct {
	bench   failover.Bench
	dir     string
	losses  []string
	restore string
	rounds  int
	format  table.Format
}

func failoverCommand() *cobra.Command {
	var f failoverFlags
	cmd := &cobra.Command{
		Use:   "failover --host HOSTS [flags] [-- FLAGS OF banyan run]",
		Short: "How long a program on several hosts stands still when one of them is lost",
		Long:  failoverLong,
		Example: `  banyan bench failover --host h0:2,h1:2,h2:2,h3:2 --dir ~
  banyan bench failover --host h0:2,h1:2 --loss agent --rounds 20 --format csv
  banyan bench failover --host h0:2,h1:2 --loss silence --heartbeat-timeout 300ms
  banyan bench failover --host h0:2,h1:2 --loss 'ssh {host} poweroff -f' --restore './power-on {host}; sleep 60'`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	b := &f.bench
	flags.StringVar(&b.Hosts, "host", "", "run on these `HOSTS`, as h0:2,h1:2")
	flags.StringVar(&b.Victim, "lose", "", "lose this `HOST` (default the last of --host)")
	flags.StringArrayVar(&f.losses, "loss", []string{failover.Agent, failover.Silence}, "how it is lost: agent, silence, or a `COMMAND` (may be repeated)")
	flags.StringVar(&f.restore, "restore", "", "undo the loss by this `COMMAND` when the job has ended")
	flags.IntVarP(&b.Ranks, "ranks", "n", 4, "ranks, of two replicas each")
	flags.DurationVar(&b.Timeout, "heartbeat-timeout", launcher.DefaultHeartbeatTimeout, "silence after which a process is taken for dead")
	flags.IntVar(&b.Steps, "steps", 4000, "sums of a job: it has to take longer than the loss")
	cli.CountFlag(flags, &f.rounds, "rounds", 5, "jobs for each loss")
	flags.StringVar(&f.dir, "dir", "", "make the program in a new folder of `DIR`, which all hosts share (default that of temporary files)")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// lost is a row of the table.
type lost struct {
	failover.Loss
	gaps []failover.Gaps
}

// check refuses what can't be measured, and fills in defaults.
func (f *failoverFlags) check() (rows []lost, err error) {
	b := &f.bench
	switch {
	case !strings.Contains(b.Hosts, ","):
		return nil, fmt.Errorf("--host %q: want two hosts at least, as h0:2,h1:2", b.Hosts)
	case b.Ranks < 1:
		return nil, fmt.Errorf("--ranks %d: want at least 1", b.Ranks)
	case b.Steps < failover.Least:
		return nil, fmt.Errorf("--steps %d: want at least %d", b.Steps, failover.Least)
	case b.Timeout <= 0:
		return nil, fmt.Errorf("--heartbeat-timeout %v: want a time such as 300ms", b.Timeout)
	case f.dir != "":
		if s, err := os.Stat(f.dir); err != nil || !s.IsDir() {
			return nil, fmt.Errorf("--dir %s: there is no such directory", f.dir)
		}
	}
	if b.Victim == "" {
		last := b.Hosts[strings.LastIndexByte(b.Hosts, ',')+1:]
		b.Victim, _, _ = strings.Cut(last, ":")
	}
	ssh := os.Getenv(env.SSH)
	if ssh == "" {
		ssh = "ssh"
	}
	for _, text := range f.losses {
		loss, err := failover.NewLoss(text, ssh)
		if err != nil {
			return nil, fmt.Errorf("--loss %w", err)
		}
		rows = append(rows, lost{Loss: loss})
	}
	return rows, nil
}

func (f *failoverFlags) run(cmd *cobra.Command, further []string) error {
	rows, err := f.check()
	if err != nil {
		return err
	}
	shop, err := openWorkshopIn(f.dir)
	if err != nil {
		return err
	}
	defer shop.close()
	mpicc := replication.Installed(shop.bin).MPICC()
	if mpicc == "" {
		return shop.lacks("banyan", true)
	}
	b := &f.bench
	b.Launcher, b.Dir = append([]string{filepath.Join(shop.bin, "banyan"), "run"}, further...), shop.dir
	if b.Program, err = failover.Build(shop.dir, mpicc); err != nil {
		return cli.Failed(err)
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	bar := progress.NewLong(f.rounds*len(rows), "jobs")
	defer bar.Clear()
	for i := range f.rounds * len(rows) {
		r := &rows[i%len(rows)]
		gaps, err := b.Run(ctx, r.Loss)
		if f.restore != "" {
			if undone := failover.Restore(ctx, f.restore, b.Victim); err == nil && undone != nil {
				err = fmt.Errorf("--restore: %w", undone)
			}
		}
		if err != nil && f.dir == "" {
			err = fmt.Errorf("%w (do the hosts share %s, where the program is? --dir names a directory that they do)", err, os.TempDir())
		}
		if err != nil {
			return unmeasured(ctx, fmt.Errorf("%s: %w", r.Name, err))
		}
		r.gaps = append(r.gaps, gaps)
		bar.Step()
	}
	bar.Clear()
	return table.Write(cmd.OutOrStdout(), f.format, failoverGapColumns(b.Timeout), rows)
}

// failoverGapColumns are the columns of the table: medians of the rounds, in milliseconds.
func failoverGapColumns(timeout time.Duration) []table.Column[lost] {
	value := func(of func(failover.Gaps) time.Duration, share float64) func(r *lost) any {
		return func(r *lost) any {
			all := make([]float64, len(r.gaps))
			for i, g := range r.gaps {
				all[i] = float64(of(g)) / 1e6
			}
			return quantile(all, share)
		}
	}
	steady := func(g failover.Gaps) time.Duration { return g.Before }
	gap := func(g failover.Gaps) time.Duration { return g.After }
	return []table.Column[lost]{
		table.Col("loss", func(r *lost) any { return r.Name }),
		table.Col("jobs", func(r *lost) any { return len(r.gaps) }),
		table.Col("timeout_ms", func(*lost) any { return float64(timeout) / 1e6 }),
		table.Col("gap_ms", value(gap, 0.5)),
		table.Col("gap_ms_min", value(gap, 0)),
		table.Col("gap_ms_max", value(gap, 1)),
		table.Col("over_ms", value(func(g failover.Gaps) time.Duration { return g.After - timeout }, 0.5)),
		table.Col("steady_ms", value(steady, 0.5)),
		table.Col("steady_ms_max", value(steady, 1)),
	}
}
