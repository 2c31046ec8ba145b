package job

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
	"banyan/internal/job/status"
	"banyan/internal/study/table"
)

const topLong = `Top shows a job that runs in the terminal, again and again: how many more deaths it survives, its
hosts, its processes, what happened last. It ends with Ctrl-C, or with the job. JOB is a name that
banyan jobs lists, or the beginning of one; without it the only job is meant.

If stdout isn't a terminal, or with --once or a --format other than table, it shows the job once:
as CSV the processes, as JSON the state that docs/guide/status.md describes.

Processes that need attention come first: those that aren't live, then those that wait longest.
Counts and waits are there for jobs that were started with --status.`

// TopCommand returns banyan top.
func TopCommand() *cobra.Command {
	var format table.Format
	var once bool
	var every time.Duration
	var rows int
	cmd := &cobra.Command{
		Use:     "top [JOB]",
		Short:   "Show the processes of a job that runs, and what happens to them",
		Long:    topLong,
		Example: "  banyan top\n  banyan top heat-4f2a --every 5s\n  banyan top heat --once --rows 100\n  banyan top heat --format json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case every < 100*time.Millisecond:
				return fmt.Errorf("--every is %v: want at least 100ms", every)
			case rows < 1:
				return fmt.Errorf("--rows is %d: want at least 1", rows)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			name := strings.Join(args, "")
			s, err := askJob[*status.State](ctx, name, console.StateRequest, struct{}{})
			if err != nil {
				return err
			}
			if once || format != table.Text || !isTerminal(os.Stdout) {
				if err := showOnce(os.Stdout, format, s, rows); err != nil {
					return cli.Failed(err)
				}
				return nil
			}
			return follow(ctx, s, every, rows)
		},
	}
	cli.FormatFlag(cmd.Flags(), &format)
	cmd.Flags().BoolVar(&once, "once", false, "show the job once")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "show it again after a `TIME`")
	cmd.Flags().IntVar(&rows, "rows", 20, "show so many processes at most")
	return cmd
}

// follow shows a job until it ends or ctx does.
func follow(ctx context.Context, s *status.State, every time.Duration, rows int) error {
	name := s.Job.Name
	for {
		var screen bytes.Buffer
		screen.WriteString("\x1b[H\x1b[2J")
		if err := showOnce(&screen, table.Text, s, rows); err != nil {
			return cli.Failed(err)
		}
		if _, err := os.Stdout.Write(screen.Bytes()); err != nil {
			return cli.Failed(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
		next, err := askJob[*status.State](ctx, name, console.StateRequest, struct{}{})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil: // it is over, or its launcher is lost
			fmt.Println(err)
			return nil
		}
		s = next
	}
}

// topRow is a process, for people.
type topRow struct {
	number int
	*status.Slot
	host string
	at   status.Seconds
}

// counts are the process's counters, all 0 if there are none.
func (r *topRow) counts() status.Counters {
	if r.Counters == nil {
		return status.Counters{}
	}
	return *r.Counters
}

// waited is for how long the process has waited.
func (r *topRow) waited() float64 {
	if c := r.counts(); c.Waits != "" {
		return max(0, r.at-c.WaitsSince)
	}
	return 0
}

// showOnce shows a job.
func showOnce(w io.Writer, format table.Format, s *status.State, most int) error {
	if format == table.JSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	var all []topRow
	for i := range s.Slots {
		r := topRow{number: i, Slot: &s.Slots[i], at: s.At}
		if r.Host >= 0 && r.Host < len(s.Hosts) {
			r.host = s.Hosts[r.Host].Name
		}
		all = append(all, r)
	}
	if format != table.Text {
		return table.Write(w, format, topColumns(s.Counting, false), all)
	}
	slices.SortStableFunc(all, func(a, b topRow) int {
		quiet := func(r topRow) bool { return r.State == status.Live || r.State == status.Finished }
		switch {
		case quiet(a) != quiet(b) && quiet(b), quiet(a) == quiet(b) && a.waited() > b.waited():
			return -1
		case quiet(a) != quiet(b), a.waited() < b.waited():
			return 1
		}
		return 0
	})
	shown := all[:min(len(all), most)]
	summary(w, s)
	if err := table.Write(w, format, topColumns(s.Counting, true), shown); err != nil {
		return err
	}
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(w, "and %d more processes\n", more)
	}
	return happened(w, s)
}

// summary is what stands above the processes.
func summary(w io.Writer, s *status.State) {
	t, v := s.Totals, s.Survives
	fmt.Fprintf(w, "%s  %s  %s\n", s.Job.Name, time.Duration(s.At*float64(time.Second)).Round(time.Second), shorten(strings.Join(s.Job.Command, " "), 60))
	fmt.Fprintf(w, "%d of %d processes live on %d hosts; survives any %d deaths, at most %d; ranks with one replica left: %d\n", t.Live, len(s.Slots), len(s.Hosts), v.Any, v.Most, v.UnprotectedCount)
	fmt.Fprintf(w, "deaths: %d, heals: %d (%d failed), view %d", t.Deaths, t.Heals, t.HealsFailed, max(1, s.View))
	if s.Counting {
		fmt.Fprintf(w, "; messages: %d, bytes: %d, safe points: %d, waiting: %d", t.Sent, t.Bytes, t.Safepoints, t.Waiting)
	}
	fmt.Fprintln(w)
	if t.Expected > 0 {
		fmt.Fprintf(w, "safe points: %d of %d", t.Safepoints, t.Expected)
		if t.Left > 0 {
			fmt.Fprintf(w, ", %v left", time.Duration(t.Left*float64(time.Second)).Round(time.Second))
		}
		fmt.Fprintln(w)
	}
	if len(s.Circle) > 0 {
		fmt.Fprintf(w, "these ranks wait for each other: %v\n", s.Circle)
	}
	fmt.Fprintln(w)
}

// happened is what stands below them.
func happened(w io.Writer, s *status.State) error {
	events := slices.DeleteFunc(slices.Clone(s.Events), func(e status.Event) bool { return e.Text == "" })
	_, err := fmt.Fprintln(w)
	for _, e := range events[max(0, len(events)-8):] {
		_, err = fmt.Fprintf(w, "%9.3f s  %s\n", e.At, e.Text)
	}
	return err
}

// topColumns are the columns of the processes.
func topColumns(counting, people bool) []table.Column[topRow] {
	all := []table.Column[topRow]{
		table.Col("process", func(r *topRow) any { return r.number }),
		table.Col("rank", func(r *topRow) any { return r.Rank }),
		table.Col("replica", func(r *topRow) any { return r.Replica }),
		table.Col("host", func(r *topRow) any { return r.host }),
		table.Col("pid", func(r *topRow) any { return r.PID }),
		table.Col("state", func(r *topRow) any { return r.State }),
	}
	if !counting && people {
		return all
	}
	return append(all,
		table.Col("sent", func(r *topRow) any { return r.counts().Sent }),
		table.Col("bytes", func(r *topRow) any { return r.counts().Bytes }),
		table.Col("unexpected", func(r *topRow) any { return r.counts().Unexpected }),
		table.Col("retained_bytes", func(r *topRow) any { return r.counts().RetainedBytes }),
		table.Col("safepoints", func(r *topRow) any { return r.counts().Safepoints }),
		table.Col("waited_s", func(r *topRow) any { return float64(int(r.waited()*10)) / 10 }),
		table.Col("waits", func(r *topRow) any {
			if people {
				return shorten(r.counts().Waits, 60)
			}
			return r.counts().Waits
		}),
	)
}
