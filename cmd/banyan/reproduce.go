package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"banyan/internal/study/report"
)

func newReproduceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reproduce",
		Short: "Repeat a paper's experiments, and set its numbers beside ours",
		Long: `Repeats the experiments of one of the papers that Banyan is made of, and writes a
report: one page of HTML that begins with all claims, the paper's numbers beside
ours; every figure as SVG and PNG; all data as CSV.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newReproduceCorrectedTreesCommand(), newReproduceFailureDetectorCommand(), newReproduceMembershipCommand())
	return cmd
}

// reproduceFlags are those of every reproduction.
type reproduceFlags struct {
	out         string
	quick, full bool
	seed        uint64
	workers     int
}

func (f *reproduceFlags) check() error {
	switch {
	case f.out == "":
		return errors.New("--out: say where the report is to go: --out DIR")
	case f.quick && f.full:
		return errors.New("--quick and --full: choose one of them")
	case f.workers < 1:
		return fmt.Errorf("--workers: %d: want at least 1", f.workers)
	}
	if err := report.Prepare(f.out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// reproduce makes a report and writes it. It ends early on an interrupt; then the
// error says what is kept.
func reproduce(cmd *cobra.Command, f *reproduceFlags, kept string, run func(ctx context.Context, progress func(step string, done, total int)) (*report.Report, error)) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bar := stepBar{off: !isTerminal(os.Stderr)}
	r, err := run(ctx, bar.set)
	bar.clear()
	if errors.Is(err, context.Canceled) {
		return &exitError{1, fmt.Errorf("interrupted: %s", kept)}
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
	fmt.Fprintf(cmd.OutOrStdout(), "%s: of %d claims %d agree, %d differ, %d are open\n", filepath.Join(f.out, "index.html"), len(r.Claims),
		counts[report.Agrees], counts[report.Differs], counts[report.Open])
	return nil
}

// stepBar shows on a terminal how far each step of a long command is, and the time it
// still takes.
type stepBar struct {
	off  bool
	step string
	from int // done when the step began to be shown
	bar  *progressbar.ProgressBar
}

func (b *stepBar) set(step string, done, total int) {
	if b.off {
		return
	}
	if step != b.step {
		b.clear()
		b.step, b.from = step, done
		b.bar = progressbar.NewOptions(max(1, total-done),
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetDescription(step),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	// A terminal that can't be written to is no reason to stop.
	_ = b.bar.Set(max(0, done-b.from))
}

func (b *stepBar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}
