package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"banyan/bench/idle"
	"banyan/bench/membership"
	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

// idleGroups measures groups that do nothing, beside memberlist: "bench membership --idle".
func idleGroups(ctx context.Context, members string, span time.Duration, deaths int, systems []string, format table.Format, out, notes io.Writer) (err error) {
	p := idle.Plan{Span: span, Deaths: deaths}
	if p.N, err = membership.ParseMembers(members); err != nil {
		return fmt.Errorf("-n: %w", err)
	}
	for _, s := range systems {
		p.Systems = append(p.Systems, idle.System(s))
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	p.Again = []string{program, "bench", idleRole}
	if err := p.Check(); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	bar := progress.NewLong(p.Size(), "groups")
	rows, err := p.Run(ctx, bar.Set)
	bar.Clear()
	failed := unmeasured(ctx, err)
	if slices.ContainsFunc(rows, func(r idle.Row) bool { return r.Shared }) {
		fmt.Fprintln(notes, "banyan: no network of its own (it takes root): packets and bytes are of all processes of this machine")
	}
	if len(rows) == 0 {
		return failed
	}
	if err := table.Write(out, format, idleColumns, rows); err != nil {
		return err
	}
	return failed
}

var idleColumns = []table.Column[idle.Row]{
	table.Col("system", func(r *idle.Row) any { return string(r.System) }),
	table.Col("n", func(r *idle.Row) any { return r.N }),
	table.Col("cpu_percent", func(r *idle.Row) any { return 100 * r.Processor }),
	table.Col("goroutines", func(r *idle.Row) any { return r.Goroutines }),
	table.Col("descriptors", func(r *idle.Row) any { return r.Descriptors }),
	table.Col("packets_s", func(r *idle.Row) any { return r.Packets }),
	table.Col("bytes_s", func(r *idle.Row) any { return r.Bytes }),
	table.Col("resident_mb", func(r *idle.Row) any { return float64(r.Resident) / (1 << 20) }),
	table.Col("founded_s", func(r *idle.Row) any { return r.Founded.Seconds() }),
	table.Col("death_ms", func(r *idle.Row) any {
		if len(r.Known) == 0 {
			return nil
		}
		sorted := slices.Sorted(slices.Values(r.Known))
		return float64(sorted[len(sorted)/2].Microseconds()) / 1000
	}),
}

// idleRole names the hidden subcommand that bench membership --idle starts.
const idleRole = "idle-role"

func idleRoleCommand() *cobra.Command {
	return &cobra.Command{
		Use:    idleRole,
		Short:  "A process that banyan bench membership --idle starts",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return idle.Perform() },
	}
}
