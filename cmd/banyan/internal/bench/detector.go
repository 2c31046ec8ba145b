package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/detection"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

const detectorLong = `Detector starts so many members, each a process of its own, kills, stops or cuts off
one of them or several, and measures when the first and the last of the others know.

Faults:
  kill       SIGKILL; detected by evidence
  stop       SIGSTOP; detected when its heartbeats stop, δ after the last one
  partition  the member's link is cut while it lives (needs root and the command ip)
  none       only the cost of a quiet system, and its false suspicions

Before the fault the members are left alone for --duration. Messages, processor time and
false suspicions are counted then; with --load, while so many other processes
compute. A live member that another takes for dead is a false suspicion, once a run.

Several --victims are struck at once, or --apart from each other. --where neighbours takes members
of which each further one is observed by the one before it, the worst for a ring; --where host
takes whole hosts of --host-size members, of which Banyan's ring knows (--bare: started without
a launcher, which would tell of deaths). A killed member's neighbours know from the kernel, so
that --bare --fault kill measures broadcasts that run at the same time. Then
  first   from the first fault until a member knows of a victim
  spread  from a victim's first detection until all know of it, mean of the victims
  last    from the first fault until all know of all; theorem 1 bounds it by f(f+1)δ and messages

Peers are hashicorp/memberlist, every member a process as well, with its LAN
configuration at the period η:
  memberlist          shipped ratios: probes each η, probe time-out η/2, gossip each η/5
  memberlist-matched  a suspect may object for as long as makes δ together with the probe
  memberlist-floor    the shortest times that memberlist can be set to at this period
  memberlist-swim     SWIM alone: no gossip beside its pings, no exchanges of lists, no TCP pings

Several --timeout give the curve of detection time against false suspicions: table shows the
rate for each member-hour with its interval. docs/results/detector-bench.md describes
the method, and why it is fair.`

const detectorExample = `  banyan bench detector -n 8,32,64 --fault kill
  banyan bench detector -n 64 --period 10ms --timeout 100ms --fault stop --runs 30 --peer none
  banyan bench detector -n 32 --period 100ms --timeout 300ms --fault stop --peer memberlist --format csv
  banyan bench detector -n 16 --fault none --load 4 --duration 10m --runs 1
  banyan bench detector -n 32,64 --period 100ms --timeout 1s --fault stop --peer none \
      --victims 1,2,4,8 --where neighbours --out figure10
  banyan bench detector -n 64 --bare --fault kill --peer none --victims 1,2,4,8
  banyan bench detector -n 32 --bare --fault stop --peer none --host-size 4 --victims 4,8 --where host
  banyan bench detector -n 16 --period 10ms --timeout 20ms,50ms,100ms,200ms --fault stop \
      --peer memberlist-matched --load 4 --duration 30s --runs 10`

type detectorFlags struct {
	plan   detection.Plan
	peers  []string
	fault  string
	bare   bool
	where  string
	out    string
	format table.Format
}

func detectorCommand() *cobra.Command {
	var f detectorFlags
	cmd := &cobra.Command{
		Use:     "detector",
		Short:   "How fast live members learn of a death, and how often they are wrong",
		Long:    detectorLong,
		Example: detectorExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.plan.N, "members", "n", []int{8, 32}, "numbers of members")
	flags.DurationVar(&f.plan.Period, "period", 10*time.Millisecond, "η: how often members send heartbeats; the peer's probe interval")
	flags.DurationSliceVar(&f.plan.Timeouts, "timeout", []time.Duration{100 * time.Millisecond}, "δ: silence after which a member is taken for dead")
	flags.StringVar(&f.fault, "fault", string(detection.Kill), "kill, stop, partition or none")
	flags.StringSliceVar(&f.peers, "peer", []string{string(detection.Memberlist)}, "memberlist, memberlist-matched, memberlist-floor, memberlist-swim, or none")
	flags.IntSliceVar(&f.plan.Victims, "victims", []int{1}, "members that are struck, or several numbers")
	flags.StringVar(&f.where, "where", string(detection.Anywhere), "which: random, neighbours on the ring, or host (whole hosts)")
	flags.DurationVar(&f.plan.Apart, "apart", 0, "time from one victim to the next (default all at once)")
	flags.IntVar(&f.plan.HostSize, "host-size", 0, "members that share a host, as Banyan is told (default all; needs --bare)")
	flags.BoolVar(&f.bare, "bare", false, "start Banyan's members without a launcher, which could report deaths")
	flags.IntVar(&f.plan.Runs, "runs", 10, "runs of each setting")
	flags.DurationVar(&f.plan.Quiet, "duration", 2*time.Second, "quiet time before each fault")
	flags.IntVar(&f.plan.Load, "load", 0, "processes that compute beside the members")
	flags.BoolVar(&f.plan.Compute, "compute", false, "every member computes and never calls its library")
	flags.Uint64Var(&f.plan.Seed, "seed", 1, "draws the victims")
	flags.StringVarP(&f.out, "out", "o", "", "also write a report with charts and the paper's claims to directory `DIR`")
	cli.FormatFlag(flags, &f.format)
	flags.Lookup("format").Usage = "table (medians), csv or json (a row a run)"
	cmd.AddCommand(detectorPeriodCommand(), detectorNoiseCommand())
	return cmd
}

// systems are Banyan and its peers.
func (f *detectorFlags) systems() ([]detection.System, error) {
	ours := detection.Banyan
	if f.bare {
		ours = detection.BanyanBare
	}
	all := []detection.System{ours}
	if slices.Equal(f.peers, []string{"none"}) {
		return all, nil
	}
	for _, p := range f.peers {
		if !slices.Contains(detection.Peers, detection.System(p)) {
			return nil, fmt.Errorf("--peer %q: there are %s, or none", p, detection.ListPeers())
		}
		all = append(all, detection.System(p))
	}
	return all, nil
}

func (f *detectorFlags) run(ctx context.Context, out io.Writer) (err error) {
	f.plan.Fault, f.plan.Where = detection.Fault(f.fault), detection.Where(f.where)
	if f.plan.Systems, err = f.systems(); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	f.plan.Again = []string{program, "bench", detectorRole}
	if err := f.plan.Check(); err != nil {
		return err
	}
	if err := prepareReport(f.out); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.NewLong(f.plan.Size(), "runs")
	if f.format == table.CSV {
		fmt.Fprintln(out, detection.CSVHead)
	}
	encoder := json.NewEncoder(out)
	var rows []detection.Row
	err = f.plan.Run(ctx, func(r detection.Row) error {
		rows = append(rows, r)
		switch f.format {
		case table.CSV:
			err = r.WriteCSV(out)
		case table.JSON:
			err = encoder.Encode(r)
		}
		bar.Step()
		return err
	})
	bar.Clear()
	if f.format == table.Text && len(rows) > 0 {
		// The measured rows are worth seeing even if the rest failed.
		err = errors.Join(detection.WriteTable(out, detection.Summarise(rows)), err)
	}
	if f.out != "" && len(rows) > 0 {
		err = errors.Join(err, detection.StrikeReport(commandLine(), detection.Summarise(rows)).Write(f.out))
	}
	return unmeasured(ctx, err)
}

// commandLine is how the command was called, for reports.
func commandLine() string { return "banyan " + strings.Join(os.Args[1:], " ") }

// detectorRole names the hidden subcommand that bench detector starts.
const detectorRole = "detector-role"

func detectorRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    detectorRole,
		Short:  "A process that banyan bench detector starts",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return detection.Perform() },
	}
}
