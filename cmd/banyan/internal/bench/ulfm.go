package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"banyan/bench/peers"
	"banyan/bench/ulfm"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

const ulfmLong = `Ulfm builds a C program with the mpicc of Banyan, and with those of other libraries that are
installed and have ULFM (as mpicc.openmpi and mpicc.mpich), and measures what programs pay that handle
failures themselves:

  barrier   what agree and shrink are compared with: a barrier of the same block of the same job
  agree     an agreement of all ranks, without deaths
  shrink    a shrink of the world, without deaths, up to the new communicator
  revoke    from a revocation until the last rank has left the allreduce in which it waited
  killed    from a kill until the last rank has left its first agreement, in which it waited
  known     from a kill until the last rank has the error of a receive that waited for the dead rank

us is the median of all blocks (of all jobs, where a rank is killed), us_q1 and us_q3 are the
quartiles. barriers is the median of the blocks' ratios to the barrier.`

type ulfmFlags struct {
	procs                      []int
	only                       []string
	rounds, blocks, operations int
	format                     table.Format
}

func ulfmCommand() *cobra.Command {
	var f ulfmFlags
	cmd := &cobra.Command{
		Use:   "ulfm",
		Short: "What agreements, shrinks and revocations take, and how soon survivors know of a death",
		Long:  ulfmLong,
		Example: `  banyan bench ulfm
  banyan bench ulfm --procs 2,4 --rounds 20
  banyan bench ulfm --library banyan --procs 64 --format csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&f.procs, "procs", []int{2, 4, 64}, "numbers of processes")
	flags.StringSliceVar(&f.only, "library", nil, "measure these libraries only: banyan, openmpi, mpich")
	cli.CountFlag(flags, &f.rounds, "rounds", 7, "jobs of each kind")
	cli.CountFlag(flags, &f.blocks, "blocks", 15, "blocks of a job without deaths")
	cli.CountFlag(flags, &f.operations, "operations", 400, "operations of a block, a quarter as many shrinks; with more than 8 processes an eighth of it")
	cli.FormatFlag(flags, &f.format)
	return cmd
}

// survived is what was measured with one library and number of processes.
type survived struct {
	library peers.Library
	program string
	procs   int
	blocks  []ulfm.Block
	killed  []float64
	known   []float64
	broken  error // of a peer, which isn't measured any more
}

func (f *ulfmFlags) run(cmd *cobra.Command) error {
	for _, n := range f.procs {
		if n < 2 || n > 1024 {
			return fmt.Errorf("--procs %d: 2 to 1024", n)
		}
	}
	shop, err := openWorkshop()
	if err != nil {
		return err
	}
	defer shop.close()
	all, err := f.build(cmd, shop)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	bar := progress.NewLong(3*f.rounds*len(all), "jobs")
	defer bar.Clear()
	for range f.rounds {
		for _, s := range all {
			err := f.round(ctx, s, bar.Step)
			// Another library is there to compare with: the rest is of use without it.
			if err != nil && ctx.Err() == nil && s.library.Name != "banyan" {
				bar.Clear()
				fmt.Fprintf(cmd.ErrOrStderr(), "banyan: %v: it is measured no further with %d processes\n", err, s.procs)
				s.broken, err = err, nil
			}
			if err != nil {
				return unmeasured(ctx, err)
			}
		}
	}
	bar.Clear()
	return table.Write(cmd.OutOrStdout(), f.format, ulfmColumns(), ulfmRows(all))
}

// build builds the program for each library, and returns what is to be measured.
func (f *ulfmFlags) build(cmd *cobra.Command, shop workshop) (all []*survived, err error) {
	known, err := chosen(peers.Libraries(shop.bin), f.only)
	if err != nil {
		return nil, err
	}
	libraries, missing := peers.Installed(known)
	for _, name := range missing {
		if err := shop.lacks(name, len(f.only) > 0); err != nil {
			return nil, err
		}
	}
	programs := make([]string, len(libraries))
	for i, l := range libraries {
		programs[i], err = ulfm.Build(shop.dir, l)
		switch {
		case errors.Is(err, ulfm.ErrNone) && l.Name != "banyan" && len(f.only) == 0:
			fmt.Fprintf(cmd.ErrOrStderr(), "banyan: the installed %s has no ULFM and is left out\n", l.Name)
		case err != nil:
			return nil, cli.Failed(fmt.Errorf("%s: %w", l.Name, err))
		}
	}
	for _, n := range f.procs {
		for i, l := range libraries {
			if programs[i] != "" {
				all = append(all, &survived{library: l, program: programs[i], procs: n})
			}
		}
	}
	return all, nil
}

// round runs one job of each kind.
func (f *ulfmFlags) round(ctx context.Context, s *survived, step func()) error {
	defer step()
	if s.broken != nil {
		return nil
	}
	operations := f.operations
	if s.procs > 8 {
		operations = max(1, operations/8)
	}
	blocks, err := ulfm.Steady(ctx, s.library, s.program, s.procs, f.blocks, operations)
	if err != nil {
		return err
	}
	s.blocks = append(s.blocks, blocks...)
	step()
	killed, err := ulfm.Kill(ctx, s.library, s.program, s.procs, ulfm.Agree)
	if err != nil {
		return err
	}
	s.killed = append(s.killed, killed)
	step()
	known, err := ulfm.Kill(ctx, s.library, s.program, s.procs, ulfm.Known)
	if err != nil {
		return err
	}
	s.known = append(s.known, known)
	return nil
}

// ulfmRow is a row of the table.
type ulfmRow struct {
	library, what string
	procs         int
	ns, ratios    []float64
}

func ulfmRows(all []*survived) (rows []ulfmRow) {
	for _, s := range all {
		each := func(of func(b ulfm.Block) float64) (values []float64) {
			for _, b := range s.blocks {
				values = append(values, of(b))
			}
			return values
		}
		row := func(what string, ns, ratios []float64) {
			if len(ns) > 0 {
				rows = append(rows, ulfmRow{s.library.Name, what, s.procs, ns, ratios})
			}
		}
		row("barrier", each(func(b ulfm.Block) float64 { return b.Barrier }), nil)
		row("agree", each(func(b ulfm.Block) float64 { return b.Agree }), each(func(b ulfm.Block) float64 { return b.Agree / b.Barrier }))
		row("shrink", each(func(b ulfm.Block) float64 { return b.Shrink }), each(func(b ulfm.Block) float64 { return b.Shrink / b.Barrier }))
		row("revoke", each(func(b ulfm.Block) float64 { return b.Revoke }), nil)
		row("killed", s.killed, nil)
		row("known", s.known, nil)
	}
	return rows
}

func ulfmColumns() []table.Column[ulfmRow] {
	us := func(share float64) func(r *ulfmRow) any {
		return func(r *ulfmRow) any { return quantile(r.ns, share) / 1e3 }
	}
	return []table.Column[ulfmRow]{
		table.Col("library", func(r *ulfmRow) any { return r.library }),
		table.Col("procs", func(r *ulfmRow) any { return r.procs }),
		table.Col("what", func(r *ulfmRow) any { return r.what }),
		table.Col("samples", func(r *ulfmRow) any { return len(r.ns) }),
		table.Col("us", us(0.5)),
		table.Col("us_q1", us(0.25)),
		table.Col("us_q3", us(0.75)),
		table.Col("barriers", func(r *ulfmRow) any {
			if len(r.ratios) == 0 {
				return nil
			}
			return quantile(r.ratios, 0.5)
		}),
	}
}
