// Package reproduce is banyan reproduce: the experiments of the papers.
package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/study/report"
	"banyan/internal/study/table"
)

// Command returns the command with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reproduce",
		Short: "Repeat a paper's experiments, and set its numbers beside ours",
		Long: `Repeats the experiments of one of the papers that Banyan is made of, and writes a
report: one page of HTML that begins with all claims, the paper's numbers beside
ours; every figure as SVG and PNG; all data as CSV.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(correctedTreesCommand(), failureDetectorCommand(), membershipCommand(), replicationCommand())
	return cmd
}

// commonFlags are those of every reproduction.
type commonFlags struct {
	out         string
	quick, full bool
	seed        uint64
	format      table.Format // of the claims on stdout; "": one line about them
	workers     int
	planned     []plannedStep // how long what takes, if that is known
}

// register adds the flags. quick and full say what these ask for, drawn what a seed draws, and
// workers what they do; without workers there is no such flag.
func (f *commonFlags) register(flags *pflag.FlagSet, quick, full, drawn, workers string) {
	flags.BoolVar(&f.quick, "quick", false, quick)
	flags.BoolVar(&f.full, "full", false, full)
	flags.Uint64Var(&f.seed, "seed", 1, "another one draws other "+drawn)
	flags.Var(&f.format, "format", "also print the claims: table, csv or json")
	if workers != "" {
		cli.WorkersFlag(flags, &f.workers, workers)
	}
}

// valid returns an error for flags that make no sense.
func (f *commonFlags) valid() error {
	switch {
	case f.out == "":
		return errors.New("--out: name a directory for the report: --out DIR")
	case f.quick && f.full:
		return errors.New("--quick and --full: choose one of them")
	}
	return nil
}

// check also makes the directory.
func (f *commonFlags) check() error {
	if err := f.valid(); err != nil {
		return err
	}
	if err := report.Prepare(f.out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// goesOn says after an interruption how to go on: by the same command line.
func (f *commonFlags) goesOn(cmd *cobra.Command) string {
	return fmt.Sprintf("%s keeps what is done; to go on from there: %s", f.out, commandLine(cmd))
}

// pieces is where a reproduction keeps what is done.
func (f *commonFlags) pieces() string { return filepath.Join(f.out, "pieces") }

// commandLine is that of a command, as a shell takes it.
func commandLine(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch {
			case f.Value.Type() == "bool" && v == "true":
				words = append(words, "--"+f.Name)
			case f.Value.Type() == "bool":
				words = append(words, "--"+f.Name+"="+v)
			default:
				words = append(words, "--"+f.Name, quoted(v))
			}
		}
	})
	return strings.Join(words, " ")
}

// quoted is a word of a shell.
func quoted(word string) string {
	if word != "" && strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%", r)
	}) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// reproduce makes a report and writes it. It ends early on an interrupt; then the
// error says what is kept.
func reproduce(cmd *cobra.Command, f *commonFlags, kept string, run func(ctx context.Context, progress func(step string, done, total int)) (*report.Report, error)) error {
	ctx, stop := cli.Interruptible(cmd.Context())
	defer stop()
	shown := newDisplay(cmd.ErrOrStderr(), f.planned)
	r, err := run(ctx, shown.set)
	shown.bar.Clear()
	if errors.Is(err, context.Canceled) {
		return cli.Failedf("interrupted: %s", kept)
	}
	if err != nil {
		return err
	}
	if err := r.Write(f.out); err != nil {
		return err
	}
	var counts [3]int
	for _, c := range r.Claims {
		counts[c.Verdict]++
	}
	line := fmt.Sprintf("%s: of %d claims %d agree, %d differ, %d are open\n", filepath.Join(f.out, "index.html"), len(r.Claims),
		counts[report.Agrees], counts[report.Differs], counts[report.Open])
	if f.format == "" {
		_, err := io.WriteString(cmd.OutOrStdout(), line)
		return err
	}
	fmt.Fprint(cmd.ErrOrStderr(), line) // the output is for programs
	return table.Write(cmd.OutOrStdout(), f.format, claimColumns(f.format), r.Claims)
}

// claimColumns are those of the claims; for people without what is long.
func claimColumns(format table.Format) []table.Column[report.Claim] {
	columns := []table.Column[report.Claim]{
		table.Col("where", func(c *report.Claim) any { return c.Where }),
		table.Col("verdict", func(c *report.Claim) any { return c.Verdict.String() }),
		table.Col("paper", func(c *report.Claim) any { return c.Paper }),
		table.Col("ours", func(c *report.Claim) any { return c.Ours }),
		table.Col("claim", func(c *report.Claim) any { return c.What }),
	}
	if format == table.Text {
		return columns
	}
	return append(columns,
		table.Col("difference", func(c *report.Claim) any { return c.Difference }),
		table.Col("explanation", func(c *report.Claim) any { return c.Explanation }))
}
