package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire/views"
	"banyan/internal/study/driver/viewsim"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/table"
)

// membershipFlags are the flags of "sim membership", as given.
type membershipFlags struct {
	nodes, arities             []int
	fault, protocol            string
	format                     table.Format
	topology                   string
	places                     viewtime.Topology // that of topology
	latency, overhead, compute risk.Seconds
	detection, spread, within  risk.Seconds
	gather                     risk.Seconds
	runs, workers              int
	seed                       uint64
}

func membershipCommand() *cobra.Command {
	// L + 2o is half a round trip: BlueGene/L's 4.6 µs.
	f := membershipFlags{latency: 3.6e-6, overhead: 0.5e-6, compute: 2e-6, detection: 1e-3}
	cmd := &cobra.Command{
		Use:   "membership",
		Short: "Simulate a change of view until all have installed it",
		Long: `Simulates how processes agree on a new view after a fault, in LogP time: a process takes
the overhead o for each send and each receive, one after the other, and a message travels for the
latency L; each further hop of a --topology adds L + 2o. The detector is perfect, and informs each
process of a death after --detection, or at a time drawn for each from there to --spread later.

  --fault node        a process other than the root dies
  --fault root        the root dies
  --fault several:K   K die, the root may be one of them, within --within
  --fault takeover    a process dies, and the root within --within after that is detected
  --fault join        a process joins, and asks a member drawn at random
  --fault update      a process changes what it says of itself, in 64 bytes

Printed are means over the runs that ended well (agreed), of: the time from the coordinator's first
step until it has all acknowledgements (stable, the time of Varma et al.), until the last
process has installed the view (installed), the messages by kind, and the bytes of all of them as
groups send them and with whole views (bytes, whole_bytes; without headers and addresses). Beside them are the times
of the models: base, equations 1 and 2 with L + 2o for half a round trip, and fanout, with the time that
sends one after the other take and the hops (see "banyan plan membership"). They are for one death;
the other faults take several rounds.

With --protocol paper the protocol runs as the paper prints it (internal/study/protocol/varma), where it may
end in different views (columns agreed and collided) or with a root that waits for ever (waits). With
paper-lists a root spreads all deaths that it knows of with each, as the paper's text suggests.

Spans are numbers with a unit: s, ms, us, ns.

Exit codes: 0; 1 if it was interrupted; 2 if the command line is wrong.`,
		Example: `  # one death, with the paper's constants of BlueGene/L
  banyan sim membership --nodes 16,64,256,1024 --arity 2,4 --fault node

  # and of Gigabit Ethernet: 118 µs for half a round trip
  banyan sim membership --nodes 48 --latency 98us --overhead 10us

  # BlueGene/L's torus: beside "banyan plan membership" with the same --topology
  banyan sim membership --nodes 64,256,512 --arity 2,4 --topology torus:8x8x8
  banyan sim membership --nodes 1024 --arity 2,4 --topology torus:8x8x16

  # 10,000 processes on a local network: a death, a join, a change of metadata, with messages and bytes
  banyan sim membership --nodes 1024,10000 --latency 20us --overhead 5us --fault node --format csv
  banyan sim membership --nodes 1024,10000 --latency 20us --overhead 5us --fault join --format csv
  banyan sim membership --nodes 1024,10000 --latency 20us --overhead 5us --fault update --format csv

  # the root dies while it spreads news of a death: this protocol, and the paper's
  banyan sim membership --nodes 47 --fault takeover --spread 50us --runs 1000
  banyan sim membership --nodes 47 --fault takeover --spread 50us --runs 1000 --protocol paper`,
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
	flags.IntSliceVarP(&f.nodes, "nodes", "n", []int{1024}, "number of processes, or several")
	flags.IntSliceVar(&f.arities, "arity", []int{2}, "children in the tree, a power of two, or several")
	flags.StringVar(&f.fault, "fault", "node", "node, root, several:K, takeover, join or update")
	flags.StringVar(&f.protocol, "protocol", "banyan", "banyan, or as printed: paper, paper-lists")
	flags.Var(&f.latency, "latency", "time that a message travels, L")
	flags.Var(&f.overhead, "overhead", "time that a process takes to send, and to receive, o")
	flags.StringVar(&f.topology, "topology", "single", "single, torus:XxYxZ or mesh:XxYxZ: how many hops a message takes")
	flags.Var(&f.compute, "compute", "time that a process takes to compute a new view, Ocp")
	flags.Var(&f.detection, "detection", "time from a death until all processes are informed of it")
	flags.Var(&f.spread, "spread", "each is informed up to so much later")
	flags.Var(&f.within, "within", "window in which several deaths strike (default as long as one view takes to stabilise)")
	flags.Lookup("within").DefValue = "" // that of 0s says nothing
	flags.Var(&f.gather, "gather", "time that a coordinator waits for more deaths before it begins")
	flags.IntVar(&f.runs, "runs", 10, "runs of each size and arity")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all draws")
	cli.WorkersFlag(flags, &f.workers, "runs")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// campaigns makes a campaign for each number of processes and each arity.
func (f *membershipFlags) campaigns(flags *pflag.FlagSet) ([]viewsim.Campaign, error) {
	protocol, err := viewsim.ParseProtocol(f.protocol)
	if err != nil {
		return nil, fmt.Errorf("--protocol: %w", err)
	}
	fault, err := viewsim.ParseFault(f.fault)
	if err != nil {
		return nil, fmt.Errorf("--fault: %w", err)
	}
	if changed := flags.Changed("within"); changed && fault.Kind != viewsim.Several && fault.Kind != viewsim.Takeover {
		return nil, fmt.Errorf("--within: has no meaning with --fault %v: nothing strikes later", fault)
	}
	if f.places, err = viewtime.ParseTopology(f.topology); err != nil {
		return nil, fmt.Errorf("--topology: %w", err)
	}
	if len(f.nodes) == 0 || len(f.arities) == 0 {
		return nil, errors.New("--nodes and --arity: want at least one number each")
	}
	for _, x := range []struct {
		name  string
		value risk.Seconds
	}{
		{"latency", f.latency}, {"overhead", f.overhead}, {"compute", f.compute}, {"detection", f.detection},
		{"spread", f.spread}, {"gather", f.gather}, {"within", f.within},
	} {
		if x.value > 1000 || x.name == "overhead" && x.value < 1e-9 {
			return nil, fmt.Errorf("--%s: %v: want no more than 1000s, and 1ns of overhead at least", x.name, x.value)
		}
	}
	var campaigns []viewsim.Campaign
	for _, arity := range f.arities {
		for _, n := range f.nodes {
			c := viewsim.Campaign{Runs: f.runs, Seed: f.seed, Workers: f.workers}
			c.Protocol, c.Nodes, c.Arity, c.Fault = protocol, n, arity, fault
			c.Latency, c.Overhead, c.Compute = nanoseconds(f.latency), nanoseconds(f.overhead), nanoseconds(f.compute)
			c.Detection, c.Spread, c.Within = nanoseconds(f.detection), nanoseconds(f.spread), nanoseconds(f.within)
			c.Gather, c.Weigh = nanoseconds(f.gather), weigh
			if !f.places.Single() {
				if room := f.places.Nodes(); n+fault.Joining() > room {
					return nil, fmt.Errorf("--nodes: %d: a %v has room for %d", n, f.places, room)
				}
				c.Hops = func(from, to proto.Proc) int { return f.places.Distance(int(from), int(to)) }
			}
			if err := c.Validate(); err != nil {
				return nil, fmt.Errorf("--%w", err) // fields are called as the flags
			}
			if !flags.Changed("within") {
				m := viewModel(&c.Settings, f.places)
				c.Within = nanoseconds(m.Stabilise(n, arity))
			}
			campaigns = append(campaigns, c)
		}
	}
	return campaigns, nil
}

// weigh is how many bytes a message has, as groups send it, and with whole views.
func weigh(to membership.Member, x *membership.Message) (bytes, whole int) {
	whole = views.Size(x)
	if views.MayLack(to, x) {
		return whole, whole
	}
	return len(views.AppendSteps(nil, x)), whole
}

// viewModel is the model of a simulation.
func viewModel(s *viewsim.Settings, places viewtime.Topology) viewtime.Model {
	const ns = 1e-9
	return viewtime.Model{
		Topology: places,
		Latency:  risk.Seconds(s.Latency+2*s.Overhead) * ns, Compute: risk.Seconds(s.Compute) * ns, Overhead: risk.Seconds(s.Overhead) * ns,
	}
}

// membershipRow is what is printed of a campaign.
type membershipRow struct {
	*viewsim.Campaign
	viewsim.Summary
	places viewtime.Topology
}

func (f *membershipFlags) simulate(ctx context.Context, w io.Writer, campaigns []viewsim.Campaign) error {
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.New(f.runs*len(campaigns), "simulating changes of view")
	rows := make([]membershipRow, len(campaigns))
	for i := range campaigns {
		c := &campaigns[i]
		outcomes, err := c.Run(ctx, func(done int) { bar.Set(i*f.runs + done) })
		if err != nil {
			bar.Clear()
			return cli.Stopped(err)
		}
		rows[i] = membershipRow{c, viewsim.Summarise(outcomes), f.places}
	}
	bar.Clear()
	columns := membershipColumns
	if f.format == table.Text {
		columns = slices.DeleteFunc(slices.Clone(columns), func(c table.Column[membershipRow]) bool { return slices.Contains(forPrograms, c.Name) })
	}
	return table.Write(w, f.format, columns, rows)
}

// forPrograms are the columns that tables for people leave out: those that are the same in each
// row, and those of little use.
var forPrograms = []string{"fault", "protocol", "stable_max_us", "installed_max_us", "bytes", "whole_bytes"}

// microseconds are those of a time in nanoseconds, nil if there is none.
func microseconds[T float64 | proto.Time](ns T, is bool) any {
	return table.Optional(float64(ns)/1e3, is)
}

// membershipColumns are those of all formats.
var membershipColumns = []table.Column[membershipRow]{
	table.Col("nodes", func(r *membershipRow) any { return r.Nodes }),
	table.Col("arity", func(r *membershipRow) any { return r.Arity }),
	table.Col("fault", func(r *membershipRow) any { return r.Fault.String() }),
	table.Col("protocol", func(r *membershipRow) any { return r.Protocol.String() }),
	table.Col("runs", func(r *membershipRow) any { return r.Summary.Runs }),
	table.Col("agreed", func(r *membershipRow) any { return r.Agreed }),
	table.Col("collided", func(r *membershipRow) any { return r.Collided }),
	table.Col("waits", func(r *membershipRow) any { return r.Waits }),
	table.Col("stable_us", func(r *membershipRow) any { return microseconds(r.Stable, r.Agreed > 0) }),
	table.Col("stable_max_us", func(r *membershipRow) any { return microseconds(r.MostStable, r.Agreed > 0) }),
	table.Col("installed_us", func(r *membershipRow) any { return microseconds(r.Installed, r.Agreed > 0) }),
	table.Col("installed_max_us", func(r *membershipRow) any { return microseconds(r.MostInstall, r.Agreed > 0) }),
	table.Col("base_us", func(r *membershipRow) any { return r.modelled((*viewtime.Model).Base) }),
	table.Col("fanout_us", func(r *membershipRow) any { return r.modelled((*viewtime.Model).Stabilise) }),
	table.Col("views", func(r *membershipRow) any { return table.Optional(r.Views, r.Agreed > 0) }),
	table.Col("propose", func(r *membershipRow) any { return table.Optional(r.Propose, r.Agreed > 0) }),
	table.Col("ack", func(r *membershipRow) any { return table.Optional(r.Ack, r.Agreed > 0) }),
	table.Col("commit", func(r *membershipRow) any { return table.Optional(r.Commit, r.Agreed > 0) }),
	table.Col("takeover", func(r *membershipRow) any { return table.Optional(r.Takeover, r.Agreed > 0) }),
	table.Col("other", func(r *membershipRow) any { return table.Optional(r.Other, r.Agreed > 0) }),
	table.Col("bytes", func(r *membershipRow) any { return r.weight(r.Bytes) }),
	table.Col("whole_bytes", func(r *membershipRow) any { return r.weight(r.WholeBytes) }),
}

// weight is a number of bytes; there is none of the paper's messages, which have no form.
func (r *membershipRow) weight(bytes float64) any {
	if r.Agreed == 0 || r.Protocol != viewsim.Banyan {
		return nil
	}
	return int64(math.Round(bytes))
}

// modelled is what a model says of the processes that agree, in microseconds.
func (r *membershipRow) modelled(time func(*viewtime.Model, int, int) risk.Seconds) any {
	m := viewModel(&r.Settings, r.places)
	return float64(time(&m, r.Nodes-r.Fault.Deaths(), r.Arity)) * 1e6
}
