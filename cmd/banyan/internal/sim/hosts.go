package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/proto"
	"banyan/internal/study/hosts"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/table"
)

// hostsFlags are the flags of "sim hosts", as given.
type hostsFlags struct {
	hosts             []int
	faults            []string
	rack              int
	voters            int
	consoleLoss       string
	latency, overhead risk.Seconds
	lease, margin     risk.Seconds
	renew, patience   risk.Seconds
	drift             int64
	fanout            int
	fork, start       risk.Seconds
	runs, workers     int
	seed              uint64
	format            table.Format
}

func hostsCommand() *cobra.Command {
	s := hosts.Defaults()
	span := func(t proto.Time) risk.Seconds { return risk.Seconds(t) / risk.Seconds(hosts.Second) }
	f := hostsFlags{
		latency: span(s.Latency), overhead: span(s.Overhead), lease: span(s.Lease), margin: span(s.Margin),
		renew: span(s.Renew), patience: span(s.Patience), fork: span(s.Fork), start: span(s.Start),
	}
	cmd := &cobra.Command{
		Use:   "hosts",
		Short: "Simulate the agents of many hosts: start-up, and deaths of hosts, racks, steward, console",
		Long: `Simulates the agents of a job, one a host, by the machines of internal/proto/steward: leases, the
steward's terms, the ledger, verdicts. Each host's agent asks the voters for its lease every --renew. A
host that was granted none for --lease and --margin counts as lost, and its processes are started
elsewhere. The steward tells all hosts down a tree of --fanout. Every host has a clock of its own, up
to --drift millionths wrong, and begins at a moment of its own.

  --fault start     nothing fails: the agents are started down a tree of --fanout
  --fault host      a host loses its power that isn't the steward's
  --fault rack      all hosts of a rack do, not the steward's
  --fault steward   the steward's host does
  --fault console   the console's machine does, which runs no processes

Printed are means over the runs, and with --format csv or json also the longest, of the time from the
fault until another steward acts (steward), the loss is in the ledger (verdict), all live hosts know
of it (told), the processes of the lost hosts run elsewhere (restarted), and, if the console was lost
and the job was to end with it, all agents have ended (over). For start: until all agents
hold a lease (up). Then come the messages that a host sends in a second without faults: the mean of
all hosts, and the most of one, a voter. Wrong counts verdicts on hosts that lived.

Spans are numbers with a unit: s, ms, us, ns.

Exit codes: 0; 1 if it was interrupted; 2 if the command line is wrong.`,
		Example: `  # all faults, at three sizes
  banyan sim hosts --hosts 64,1024,16384

  # a rack of 64 hosts dies, with a lease of 2 s
  banyan sim hosts --hosts 4096 --fault rack --rack 64 --lease 2s --renew 200ms

  # how long ssh takes to start 1,024 agents, if one takes 800 ms
  banyan sim hosts --hosts 1024 --fault start --start 800ms`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			campaigns, err := f.campaigns(cmd.Flags())
			if err != nil {
				return err
			}
			return f.simulate(cmd.Context(), cmd.OutOrStdout(), campaigns)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.hosts, "hosts", "n", []int{s.Hosts}, "number of hosts, or several")
	flags.StringSliceVar(&f.faults, "fault", []string{"start", "host", "rack", "steward", "console"}, "start, host, rack, steward or console, or several")
	flags.IntVar(&f.rack, "rack", s.Rack, "hosts of a rack")
	flags.IntVar(&f.voters, "voters", s.Voters, "hosts that vote, at most")
	flags.StringVar(&f.consoleLoss, "on-console-loss", "end", "continue or end")
	flags.Var(&f.lease, "lease", "how long a lease runs from when it was asked for")
	flags.Var(&f.margin, "margin", "how much longer a host is waited for")
	flags.Var(&f.renew, "renew", "how often an agent asks for a new lease")
	flags.Var(&f.patience, "patience", "how long a steward may be silent")
	flags.Int64Var(&f.drift, "drift", s.Drift, "how many millionths a clock may be wrong")
	flags.Var(&f.latency, "latency", "time that a message travels, L")
	flags.Var(&f.overhead, "overhead", "time that a host takes to send, and to receive, o")
	flags.IntVar(&f.fanout, "fanout", s.Fanout, "children in the trees")
	flags.Var(&f.fork, "fork", "time for an agent to begin the start of one child")
	flags.Var(&f.start, "start", "time from then until the child's agent is there")
	flags.IntVar(&f.runs, "runs", 5, "runs of each size and fault")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all draws")
	cli.WorkersFlag(flags, &f.workers, "runs")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// campaigns makes a campaign for each number of hosts and each fault.
func (f *hostsFlags) campaigns(flags *pflag.FlagSet) ([]hosts.Campaign, error) {
	if len(f.hosts) == 0 || len(f.faults) == 0 {
		return nil, errors.New("--hosts and --fault: want at least one each")
	}
	if f.consoleLoss != "end" && f.consoleLoss != "continue" {
		return nil, fmt.Errorf("--on-console-loss: %q: want continue or end", f.consoleLoss)
	}
	for _, x := range []struct {
		name  string
		value risk.Seconds
	}{
		{"latency", f.latency}, {"overhead", f.overhead}, {"lease", f.lease}, {"margin", f.margin}, {"renew", f.renew},
		{"patience", f.patience}, {"fork", f.fork}, {"start", f.start},
	} {
		if x.value > 1000 {
			return nil, fmt.Errorf("--%s: %v: want no more than 1000s", x.name, x.value)
		}
	}
	var campaigns []hosts.Campaign
	for _, n := range f.hosts {
		for _, name := range f.faults {
			fault, err := hosts.ParseFault(name)
			if err != nil {
				return nil, fmt.Errorf("--fault: %w", err)
			}
			c := hosts.Campaign{Runs: f.runs, Seed: f.seed, Workers: f.workers}
			c.Settings = hosts.Settings{
				Hosts: n, Rack: f.rack, Fault: fault, Voters: f.voters, Continue: f.consoleLoss == "continue",
				Latency: nanoseconds(f.latency), Overhead: nanoseconds(f.overhead), Lease: nanoseconds(f.lease), Margin: nanoseconds(f.margin),
				Renew: nanoseconds(f.renew), Patience: nanoseconds(f.patience), Drift: f.drift,
				Fanout: f.fanout, Fork: nanoseconds(f.fork), Start: nanoseconds(f.start),
			}
			if fault == hosts.Rack && !flags.Changed("rack") {
				c.Rack = min(f.rack, max(1, n/4)) // a small job still has several racks
			}
			if err := c.Validate(); err != nil {
				return nil, fmt.Errorf("--%w", err) // fields are called as the flags
			}
			campaigns = append(campaigns, c)
		}
	}
	return campaigns, nil
}

// hostsRow is what is printed of a campaign.
type hostsRow struct {
	*hosts.Campaign
	outcomes []hosts.Outcome
}

func (f *hostsFlags) simulate(ctx context.Context, w io.Writer, campaigns []hosts.Campaign) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.New(f.runs*len(campaigns), "simulating agents")
	var rows []hostsRow
	for i := range campaigns {
		c := &campaigns[i]
		outcomes, err := c.Run(ctx, func(done int) { bar.Set(i*f.runs + done) })
		if err != nil {
			bar.Clear()
			return cli.Stopped(err)
		}
		rows = append(rows, hostsRow{c, outcomes})
	}
	bar.Clear()
	columns := hostsColumns()
	if f.format == table.Text {
		columns = slices.DeleteFunc(columns, func(c table.Column[hostsRow]) bool { return slices.Contains(hostsForPrograms, c.Name) })
	}
	return table.Write(w, f.format, columns, rows)
}

// hostsForPrograms are the columns that tables for people leave out.
var hostsForPrograms = []string{"up_max_s", "steward_max_s", "verdict_max_s", "told_max_s", "restarted_max_s", "over_max_s"}

// hostsColumns are those of all formats.
func hostsColumns() []table.Column[hostsRow] {
	columns := []table.Column[hostsRow]{
		table.Col("hosts", func(r *hostsRow) any { return r.Hosts }),
		table.Col("fault", func(r *hostsRow) any { return r.Fault.String() }),
		table.Col("runs", func(r *hostsRow) any { return len(r.outcomes) }),
		table.Col("lost", func(r *hostsRow) any { return r.outcomes[0].Lost }),
	}
	for _, x := range []struct {
		name string
		time func(o *hosts.Outcome) proto.Time
	}{
		{"up", func(o *hosts.Outcome) proto.Time { return o.Up }},
		{"steward", func(o *hosts.Outcome) proto.Time { return o.Steward }},
		{"verdict", func(o *hosts.Outcome) proto.Time { return o.Verdict }},
		{"told", func(o *hosts.Outcome) proto.Time { return o.Told }},
		{"restarted", func(o *hosts.Outcome) proto.Time { return o.Restarted }},
		{"over", func(o *hosts.Outcome) proto.Time { return o.Over }},
	} {
		span := func(r *hostsRow) hosts.Span { return hosts.Summarise(r.outcomes, x.time) }
		// A time that some run hasn't reached has no mean.
		all := func(r *hostsRow) bool { return span(r).Runs == len(r.outcomes) }
		columns = append(columns,
			table.Col(x.name+"_s", func(r *hostsRow) any { return table.Optional(span(r).Mean/float64(hosts.Second), all(r)) }),
			table.Col(x.name+"_max_s", func(r *hostsRow) any { return table.Optional(float64(span(r).Most)/float64(hosts.Second), all(r)) }))
	}
	mean := func(r *hostsRow, value func(o *hosts.Outcome) float64) any {
		sum := 0.0
		for i := range r.outcomes {
			sum += value(&r.outcomes[i])
		}
		return table.Optional(sum/float64(len(r.outcomes)), r.Fault != hosts.Start)
	}
	return append(columns,
		table.Col("sends_per_s", func(r *hostsRow) any { return mean(r, func(o *hosts.Outcome) float64 { return o.Rate }) }),
		table.Col("most_sends_per_s", func(r *hostsRow) any { return mean(r, func(o *hosts.Outcome) float64 { return o.MostRate }) }),
		table.Col("wrong", func(r *hostsRow) any {
			n := 0
			for i := range r.outcomes {
				n += r.outcomes[i].Wrong
			}
			return n
		}))
}
