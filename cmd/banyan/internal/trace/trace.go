// Package trace is banyan trace: timelines and summaries of traces.
package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/proto"
	"banyan/internal/study/table"
	"banyan/internal/trace/chrome"
	"banyan/internal/trace/lateness"
	"banyan/internal/trace/timeline"
)

// Command returns the command.
func Command() *cobra.Command {
	var svg, chromeFile, from, to string
	var part timeline.Part
	var summary bool
	var format table.Format
	cmd := &cobra.Command{
		Use:   "trace FILE",
		Short: "Draw the timeline of a trace, or say who was late",
		Long: `Draws a trace, as "banyan run --trace FILE" and "banyan sim broadcast --trace FILE" write
it, as a timeline in LogP's manner: a row for each process, time across, a bar above the row's line for
each send, one below it for each receive, and lines for the flights between. A
row is tinted from the moment at which its process is coloured, and hatched from
the moment at which it is dead.

The picture is one file that any viewer shows. In a browser the wheel zooms,
dragging moves, a double click shows all again, and a tooltip names what the mouse
rests on. Up to 4,096 processes and 50,000 messages are drawn; up to a few hundred
processes can be read without zooming.

Draw a part of a longer run: --from and --to are times as the picture of the whole shows
them, in steps, or as in 1.5ms; --kind takes kinds of messages, as the trace names them.

With --chrome the trace is written for Perfetto (ui.perfetto.dev) or chrome://tracing, whole, with
messages as flows between processes, and for a real run what processes waited and the critical path:
what the run's end had to wait for. Times are microseconds there; a step is one.

With --summary, processes are listed by what they may have cost others, in the trace's unit:
late_sending is for how long others waited before it sent them something (in a simulated trace, were
quiet: a bound), and delayed the one that did so longest; late_receiving is for how long messages to
it were under way or on offer beyond the quickest, and waited the sender that waited longest;
critical is for how long the process was on the critical path.

FILE and OUT may be "-", the standard input and output.`,
		Example: `  # figure 5 of the corrected-trees paper: a Lamé tree
  banyan sim broadcast --procs 9 --tree lame --k 3 --latency 1 --overhead 1 --correction none --trace lame.jsonl
  banyan trace lame.jsonl --svg lame.svg

  # how correction reaches the processes that dead ones cut off
  banyan sim broadcast --procs 16 --failed 1,6 --trace run.jsonl
  banyan trace run.jsonl --svg run.svg

  # the broadcasts of a real run, from 10 to 12 ms after its first message
  banyan run -n 8 --trace real.jsonl ./program
  banyan trace real.jsonl --from 10ms --to 12ms --kind tree,correction --svg real.svg

  # the whole run in Perfetto, and who was late
  banyan trace real.jsonl --chrome real.json
  banyan trace real.jsonl --summary --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			wanted := 0
			for _, is := range []bool{svg != "", chromeFile != "", summary} {
				if is {
					wanted++
				}
			}
			if wanted != 1 {
				return errors.New("want one of --svg OUT, --chrome OUT and --summary")
			}
			if svg == "" && (from != "" || to != "" || len(part.Kinds) > 0) {
				return errors.New("--from, --to and --kind are for --svg")
			}
			if chromeFile != "" {
				return convert(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], chromeFile)
			}
			if summary {
				return summarise(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], format)
			}
			var err error
			if part.From, err = traceTime(from); err != nil {
				return fmt.Errorf("--from: %w", err)
			}
			if part.To, err = traceTime(to); err != nil {
				return fmt.Errorf("--to: %w", err)
			}
			if part.To != 0 && part.To < part.From {
				return fmt.Errorf("--to: %s comes before %s", to, from)
			}
			return drawTrace(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], svg, part)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&svg, "svg", "", "write the picture to `OUT`")
	flags.StringVar(&chromeFile, "chrome", "", "write the trace to `OUT` for Perfetto or chrome://tracing")
	flags.BoolVar(&summary, "summary", false, "list processes by what they may have cost others")
	cli.FormatFlag(flags, &format)
	flags.StringVar(&from, "from", "", "draw the part after a `TIME`")
	flags.StringVar(&to, "to", "", "draw the part before a `TIME`")
	flags.StringSliceVar(&part.Kinds, "kind", nil, "draw messages of these kinds only")
	return cmd
}

// traceTime reads a time in a trace's unit, or as a duration, which is nanoseconds.
func traceTime(text string) (proto.Time, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		var d time.Duration
		d, err = time.ParseDuration(text)
		n = int64(d)
	}
	if err != nil || n < 0 || n > 1<<60 {
		return 0, fmt.Errorf("%q: want a number of steps, or a time as in 1.5ms", text)
	}
	return proto.Time(n), nil
}

// open opens a trace, which mustn't be what the flag is to write; empty: nothing is written.
func open(stdin io.Reader, in, flag, out string) (io.ReadCloser, error) {
	if in == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(in)
	if err != nil {
		return nil, err
	}
	if out != "" && same(file, out) {
		file.Close()
		return nil, fmt.Errorf("%s: %s is the trace itself", flag, out)
	}
	return file, nil
}

// convert writes a trace for viewers. A bad trace leaves no file.
func convert(stdin io.Reader, stdout io.Writer, in, out string) error {
	from, err := open(stdin, in, "--chrome", out)
	if err != nil {
		return err
	}
	defer from.Close()
	var bad error
	write := func(w io.Writer) error {
		bad = chrome.Write(w, from)
		return bad
	}
	if out == "-" {
		err = write(stdout)
	} else if err = cli.WriteFile(out, write); bad != nil {
		os.Remove(out)
	}
	switch {
	case bad != nil:
		return fmt.Errorf("%s: %w", in, bad)
	case err != nil:
		return fmt.Errorf("--chrome: %w", err)
	}
	return nil
}

// summarise lists the processes of a trace, those that cost most first.
func summarise(stdin io.Reader, stdout io.Writer, in string, format table.Format) error {
	from, err := open(stdin, in, "", "")
	if err != nil {
		return err
	}
	defer from.Close()
	s, err := lateness.Read(from)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	peer := func(p proto.Proc) any {
		if p == proto.NoProc {
			return nil
		}
		return int(p)
	}
	unit := "_" + s.Header.Unit
	if s.Header.Unit != "ns" {
		unit = "_steps"
	}
	err = table.Write(stdout, format, []table.Column[lateness.Process]{
		table.Col("process", func(p *lateness.Process) any { return int(p.Proc) }),
		table.Col("sent", func(p *lateness.Process) any { return p.Sent }),
		table.Col("received", func(p *lateness.Process) any { return p.Received }),
		table.Col("late_sending"+unit, func(p *lateness.Process) any { return int64(p.LateSending) }),
		table.Col("delayed", func(p *lateness.Process) any { return peer(p.Delayed) }),
		table.Col("late_receiving"+unit, func(p *lateness.Process) any { return int64(p.LateReceiving) }),
		table.Col("waited", func(p *lateness.Process) any { return peer(p.Waited) }),
		table.Col("critical"+unit, func(p *lateness.Process) any { return onPath(s, p) }),
	}, s.Processes)
	if err != nil {
		return cli.Failed(err)
	}
	return nil
}

// onPath is for how long a process is on the critical path, if the trace has one.
func onPath(s *lateness.Summary, p *lateness.Process) any {
	if !s.Waits {
		return nil
	}
	return int64(p.Critical)
}

// drawTrace reads all before it writes anything: a bad trace leaves no file.
func drawTrace(stdin io.Reader, stdout io.Writer, in, out string, part timeline.Part) error {
	from, err := open(stdin, in, "--svg", out)
	if err != nil {
		return err
	}
	defer from.Close()
	t, err := timeline.Read(from, part)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	if out == "-" {
		return t.WriteSVG(stdout)
	}
	if err := cli.WriteFile(out, t.WriteSVG); err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	return nil
}

// same is whether name is the file.
func same(file *os.File, name string) bool {
	a, err := file.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}
