package plan

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	benchmembership "banyan/bench/membership"
	"banyan/cmd/banyan/internal/bench"
	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
	"banyan/internal/study/table"
)

// membershipFlags are the flags of "plan membership", as given.
type membershipFlags struct {
	nodes, arities []int
	model          viewtime.Model
	topology       string
	measure        bool
	contention     string
	fit            string
	format         table.Format
	out            string // directory for a chart
}

func membershipCommand() *cobra.Command {
	f := membershipFlags{model: viewtime.Model{Latency: 4.6e-6, Compute: 2e-6}}
	cmd := &cobra.Command{
		Use:   "membership",
		Short: "How long a view takes to stabilise, and along which tree",
		Long: `Computes the stabilisation time of a view, from the coordinator's proposal until all have
acknowledged, along a tree of n nodes with a children each, by the models of Varma et al.,
"Scalable, Fault-Tolerant Membership for MPI Tasks on HPC Systems" (2006):

  base_us        2·L·(H−1) + Ocp·H, H being the levels of the tree (equations 1 and 2)
  stabilise_us   the same, refined by these flags:
    --topology   a torus or a mesh: (H−1) becomes the sum over the levels of the most hops
                 between a parent and a child (column hops). The paper prints another factor
                 (H−1), which is a misprint and isn't here.
    --overhead   sends of a node go one after the other: + (a−1)·o·(H−1). Without it the
                 flattest tree always seems best.
    --contention messages delay each other: L is that among as many nodes with as many children,
                 as "banyan bench contention" has measured it. It goes on in a line beyond the
                 most nodes of that.
    --fit        the same where only stabilisation times are known: L becomes L·(1 + c·w), w being
                 the messages of the widest level (column widest). c is fitted to the times by
                 least squares.

Nodes are placed row by row, the last coordinate first. The best arity for each number of nodes
has a * in the last column.

L and Ocp are the paper's of BlueGene/L unless they are given (with --contention L is that of the fewest
nodes there), or measured on this machine by --measure: half a round trip of a proposal over loopback TCP, and a member's computation for one, in a
group of 47, as "banyan bench membership" does.

--fit reads a CSV file with a heading; the columns n and stabilise_us are needed. With a column
arity each row is of that tree, else of the one --arity; with a column fault, as "banyan bench
membership" writes it, only rows of fault "node" count, and n is one more than the tree has.

Spans are numbers with a unit: s, ms, us, ns.

Exit codes: 0; 1 if this machine can't be measured; 2 if the command line or the file is wrong.`,
		Example: `  # BlueGene/L: a midplane of 8x8x8; two have torus:8x8x16
  banyan plan membership --nodes 64,256,512 --arity 2,4 --latency 4.6us --compute 2us --topology torus:8x8x8

  # Gigabit Ethernet, with the time of a send
  banyan plan membership --nodes 47,1000,10000 --arity 2,4,8,16 --latency 118us --overhead 10us

  # the same as a chart: stabilisation time over the number of nodes
  banyan plan membership --nodes 100000 --arity 2,4,8 --latency 118us --overhead 10us --out chart

  # this machine
  banyan plan membership --nodes 47,512,4096 --measure

  # the same with many nodes on it: how much they delay each other is measured
  banyan bench contention --format csv > contention.csv
  banyan plan membership --nodes 16,32,47 --arity 2,4 --measure --contention contention.csv

  # a switch, from stabilisation times alone
  banyan plan membership --nodes 47,512,4096 --latency 118us --fit measured.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntSliceVarP(&f.nodes, "nodes", "n", nil, "number of nodes, or several")
	flags.IntSliceVar(&f.arities, "arity", []int{2, 4, 8}, "children in the tree, a power of two, or several")
	flags.Var(&f.model.Latency, "latency", "half a round trip between neighbours, L")
	flags.Var(&f.model.Compute, "compute", "time that a node takes to compute its view, Ocp")
	flags.BoolVar(&f.measure, "measure", false, "measure L and Ocp on this machine")
	flags.StringVar(&f.topology, "topology", "single", "single, torus:XxYxZ or mesh:XxYxZ")
	flags.Var(&f.model.Overhead, "overhead", "time between two sends of a node, o")
	flags.StringVar(&f.contention, "contention", "", "CSV `file` of banyan bench contention: L among many nodes")
	flags.StringVar(&f.fit, "fit", "", "CSV `file` of measurements, to fit the contention to")
	flags.StringVar(&f.out, "out", "", "also draw it for up to the largest number of nodes, as a page in `DIR`")
	cli.FormatFlag(flags, &f.format)
	if err := cmd.MarkFlagRequired("nodes"); err != nil {
		panic(err) // there is no such flag
	}
	return cmd
}

// membershipRow is a tree.
type membershipRow struct {
	*viewtime.Model
	nodes, arity int
	best         bool
	fit          *viewtime.Fit // nil if nothing was fitted
}

func (f *membershipFlags) run(w, notes io.Writer, flags *pflag.FlagSet) error {
	var err error
	if f.model.Topology, err = viewtime.ParseTopology(f.topology); err != nil {
		return fmt.Errorf("--topology: %w", err)
	}
	if err := f.model.Validate(); err != nil {
		return fmt.Errorf("--%w", err) // fields are called as the flags
	}
	if f.contention != "" {
		if f.fit != "" {
			return errors.New("--contention and --fit: choose one of them")
		}
		if f.model.Contended, err = bench.ReadContention(f.contention); err != nil {
			return err
		}
		if !flags.Changed("latency") {
			f.model.Latency = f.model.Contended.Alone()
		}
	}
	if len(f.nodes) == 0 || len(f.arities) == 0 {
		return errors.New("--nodes and --arity: want at least one number each")
	}
	for _, n := range f.nodes {
		for _, arity := range f.arities {
			if err := f.model.ValidateTree(n, arity); err != nil {
				return fmt.Errorf("--%w", err)
			}
		}
	}
	if f.measure {
		if err := f.measureMachine(flags); err != nil {
			return err
		}
		fmt.Fprintf(notes, "banyan: this machine: L = %v, Ocp = %v\n", f.model.Latency, f.model.Compute)
	}
	var fit *viewtime.Fit
	var measured []viewtime.Measurement
	if flags.Changed("fit") {
		if fit, measured, err = f.fitFile(); err != nil {
			return fmt.Errorf("--fit: %w", err)
		}
		f.model.Contention = fit.Contention
	}
	if f.out != "" {
		if err := report.Prepare(f.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		if err := viewChart(&f.model, f.nodes, f.arities, measured, "banyan plan membership"+cli.Given(flags)).Write(f.out); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	var rows []membershipRow
	for _, n := range f.nodes {
		best := f.model.Best(n, f.arities)
		for _, arity := range f.arities {
			rows = append(rows, membershipRow{&f.model, n, arity, arity == best, fit})
		}
	}
	columns := membershipColumns
	if f.format != table.Text {
		columns = append(columns[:len(columns):len(columns)], fitColumns...)
	}
	if err := table.Write(w, f.format, columns, rows); err != nil || fit == nil || f.format != table.Text {
		return err
	}
	_, err = fmt.Fprintf(w, "\ncontention c = %.4g, from %d measurements; they are %v off the model (root mean square), %v without contention\n",
		fit.Contention, fit.Count, fit.Residual, fit.Without)
	return err
}

// measureMachine measures the model's L and Ocp.
func (f *membershipFlags) measureMachine(flags *pflag.FlagSet) error {
	for _, name := range []string{"latency", "compute"} {
		if flags.Changed(name) {
			return fmt.Errorf("--measure and --%s: choose one of them", name)
		}
	}
	again, err := bench.MembershipAgain()
	if err != nil {
		return err
	}
	machine, err := benchmembership.MeasureMachine(again)
	if err != nil {
		return cli.Failed(fmt.Errorf("--measure: %w", err))
	}
	f.model.Latency, f.model.Compute = machine.Latency, machine.Compute
	return nil
}

// fitFile fits the contention to the measurements of a file.
func (f *membershipFlags) fitFile() (*viewtime.Fit, []viewtime.Measurement, error) {
	lines, err := cli.ReadCSV(f.fit)
	if err != nil {
		return nil, nil, err
	}
	arity := 0
	if len(f.arities) == 1 {
		arity = f.arities[0]
	}
	measured, err := viewtime.ParseMeasurements(lines, arity)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.fit, err)
	}
	fit, err := f.model.FitContention(measured)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.fit, err)
	}
	return &fit, measured, nil
}

var membershipColumns = []table.Column[membershipRow]{
	table.Col("nodes", func(r *membershipRow) any { return r.nodes }),
	table.Col("arity", func(r *membershipRow) any { return r.arity }),
	table.Col("levels", func(r *membershipRow) any { return viewtime.Levels(r.nodes, r.arity) }),
	table.Col("hops", func(r *membershipRow) any { return r.Topology.Hops(r.nodes, r.arity) }),
	table.Col("widest", func(r *membershipRow) any { return viewtime.Widest(r.nodes, r.arity) }),
	table.Col("base_us", func(r *membershipRow) any { return float64(r.Base(r.nodes, r.arity)) * 1e6 }),
	table.Col("stabilise_us", func(r *membershipRow) any { return float64(r.Stabilise(r.nodes, r.arity)) * 1e6 }),
	table.Col("best", func(r *membershipRow) any {
		if r.best {
			return "*"
		}
		return nil
	}),
}

// fitColumns say what was fitted, for programs.
var fitColumns = []table.Column[membershipRow]{
	table.Col("contention", func(r *membershipRow) any { return table.Optional(r.Contention, r.fit != nil) }),
	table.Col("residual_us", func(r *membershipRow) any {
		if r.fit == nil {
			return nil
		}
		return float64(r.fit.Residual) * 1e6
	}),
}
