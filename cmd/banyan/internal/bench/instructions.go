package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"banyan/bench/instructions"
	"banyan/bench/peers"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

type instructionsFlags struct {
	format  table.Format
	kinds   []string
	profile string
	path    bool
}

func instructionsCommand() *cobra.Command {
	var f instructionsFlags
	cmd := &cobra.Command{
		Use:   "instructions",
		Short: "Count the instructions of a message and of small collectives, beside Open MPI and MPICH",
		Long: `Instructions steps one process of a job through operations of the program that
"banyan bench mpi" times, instruction by instruction, and counts. The others run meanwhile, so
the process waits for none of them: the count is a message's path through the library, and depends
neither on the machine's load nor on its speed. The kernel's work in system calls isn't counted.

Latency is one message sent and one received. Stream is a window of 64 messages and an answer: rank 0
starts all sends, rank 1 all receives, and each waits for all of them. Rate is 64 messages, of which
rank 1 receives the oldest before it posts another. Rows with replicas are Banyan's
only: a process that is ahead of the other replicas of its rank keeps what it sends for them, one
behind needn't. Their order is that of --order of banyan run: auto and leader should cost nothing
where no call depends on timing, as here.

With --profile NAME the functions of that library are listed instead, for each row, those with
the most instructions first; with --path, in the order in which they ran.

It needs linux on amd64, and the permission to trace processes.`,
		Example: `  banyan bench instructions
  banyan bench instructions --kind latency,barrier --format csv
  banyan bench instructions --kind latency --profile banyan`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.kinds, "kind", nil, "kinds of operations: "+strings.Join(instructions.Kinds(), ", ")+" (default all)")
	flags.StringVar(&f.profile, "profile", "", "list the functions of this library: banyan, openmpi or mpich")
	flags.BoolVar(&f.path, "path", false, "list them in the order in which they ran")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// counted is a row of the table.
type counted struct {
	instructions.Row
	counts []*instructions.Count // by library; nil: it has no such row
}

// place says whether the counted process is ahead of the other replicas of its rank or behind;
// nil if it is alone.
func (r *counted) place() any {
	switch {
	case r.Ahead:
		return "ahead"
	case r.Replicas > 1:
		return "behind"
	}
	return nil
}

// order is that of the replicas, as --order has it; nil if there are none.
func (r *counted) order() any {
	switch {
	case r.Replicas < 2:
		return nil
	case r.Order == "":
		return "free"
	}
	return r.Order
}

func (f *instructionsFlags) run(cmd *cobra.Command) error {
	if f.path && f.profile == "" {
		return errors.New("--path: name the library with --profile")
	}
	var rows []counted
	for _, r := range instructions.Rows() {
		if len(f.kinds) == 0 || slices.Contains(f.kinds, r.Kind) {
			rows = append(rows, counted{Row: r})
		}
	}
	for _, kind := range f.kinds {
		if !slices.ContainsFunc(rows, func(r counted) bool { return r.Kind == kind }) {
			return fmt.Errorf("--kind %q: there are %s", kind, strings.Join(instructions.Kinds(), ", "))
		}
	}
	shop, err := openWorkshop()
	if err != nil {
		return err
	}
	defer shop.close()
	libraries := peers.Libraries(shop.bin)
	if f.profile != "" {
		libraries = slices.DeleteFunc(libraries, func(l peers.Library) bool { return l.Name != f.profile })
		if len(libraries) == 0 {
			return fmt.Errorf("--profile %q: there are banyan, openmpi and mpich", f.profile)
		}
	}
	var bar progress.Steps
	defer bar.Clear()
	bar.Set("compiling the programs", 0, 1)
	b, missing, err := peers.Build(shop.dir, libraries)
	bar.Clear()
	if err != nil {
		return cli.Failed(err)
	}
	for _, name := range missing {
		if err := shop.lacks(name, f.profile != ""); err != nil {
			return err
		}
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	const each = instructions.Operations
	counts := len(rows) * len(b.Libraries)
	for i := range rows {
		for l := range b.Libraries {
			done := i*len(b.Libraries) + l
			stepped := func(operations int) {
				bar.Set("operations", done*each+min(operations, each), counts*each)
			}
			stepped(0)
			operations := 0
			c, ok, err := instructions.Of(ctx, b, l, rows[i].Row, func() { operations++; stepped(operations) })
			// What another library takes is there to compare with: the rest is of use without it.
			if err != nil && ctx.Err() == nil && f.profile == "" && b.Libraries[l].Name != "banyan" {
				bar.Clear()
				fmt.Fprintf(cmd.ErrOrStderr(), "banyan: %v: its place in the table stays empty\n", err)
				ok, err = false, nil
			}
			if err != nil {
				return unmeasured(ctx, err)
			}
			rows[i].counts = append(rows[i].counts, nil)
			if ok {
				rows[i].counts[l] = &c
			}
		}
	}
	bar.Clear()
	if f.profile != "" {
		return f.writeProfile(cmd.OutOrStdout(), rows)
	}
	return table.Write(cmd.OutOrStdout(), f.format, instructionColumns(b.Libraries), rows)
}

func instructionColumns(libraries []peers.Library) []table.Column[counted] {
	columns := []table.Column[counted]{
		table.Col("kind", func(r *counted) any { return r.Kind }),
		table.Col("bytes", func(r *counted) any { return r.Bytes }),
		table.Col("procs", func(r *counted) any { return r.Procs }),
		table.Col("replicas", func(r *counted) any { return max(1, r.Replicas) }),
		table.Col("order", func(r *counted) any { return r.order() }),
		table.Col("rank", func(r *counted) any { return r.Rank }),
		table.Col("place", func(r *counted) any { return r.place() }),
	}
	for i, l := range libraries {
		columns = append(columns, table.Col(l.Name, func(r *counted) any {
			if r.counts[i] == nil {
				return nil
			}
			return r.counts[i].Instructions
		}))
	}
	return columns
}

// ran is a row of a profile.
type ran struct {
	counted
	instructions.Stretch
}

func (f *instructionsFlags) writeProfile(out io.Writer, rows []counted) error {
	var lines []ran
	for _, r := range rows {
		c := r.counts[0]
		if c == nil {
			continue
		}
		list := c.Path
		if !f.path {
			list = c.Profile()
		}
		for _, s := range list {
			lines = append(lines, ran{r, s})
		}
	}
	return table.Write(out, f.format, []table.Column[ran]{
		table.Col("kind", func(r *ran) any { return r.Kind }),
		table.Col("bytes", func(r *ran) any { return r.Bytes }),
		table.Col("procs", func(r *ran) any { return r.Procs }),
		table.Col("replicas", func(r *ran) any { return max(1, r.Replicas) }),
		table.Col("order", func(r *ran) any { return r.order() }),
		table.Col("rank", func(r *ran) any { return r.Rank }),
		table.Col("place", func(r *ran) any { return r.place() }),
		table.Col("instructions", func(r *ran) any { return r.Stretch.Instructions }),
		table.Col("function", func(r *ran) any { return r.Function }),
	}, lines)
}
