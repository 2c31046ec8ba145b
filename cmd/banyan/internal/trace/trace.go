// Package trace is banyan trace: timelines of traces.
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
	"banyan/internal/trace/timeline"
)

// Command returns the command.
func Command() *cobra.Command {
	var svg, from, to string
	var part timeline.Part
	cmd := &cobra.Command{
		Use:   "trace FILE",
		Short: "Draw the timeline of a trace",
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

FILE and OUT may be "-", the standard input and output.`,
		Example: `  # figure 5 of the corrected-trees paper: a Lamé tree
  banyan sim broadcast --procs 9 --tree lame --k 3 --latency 1 --overhead 1 --correction none --trace lame.jsonl
  banyan trace lame.jsonl --svg lame.svg

  # how correction reaches the processes that dead ones cut off
  banyan sim broadcast --procs 16 --failed 1,6 --trace run.jsonl
  banyan trace run.jsonl --svg run.svg

  # the broadcasts of a real run, from 10 to 12 ms after its first message
  banyan run -n 8 --trace real.jsonl ./program
  banyan trace real.jsonl --from 10ms --to 12ms --kind tree,correction --svg real.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if svg == "" {
				return errors.New("--svg: name a file for the picture")
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

// drawTrace reads all before it writes anything: a bad trace leaves no file.
func drawTrace(stdin io.Reader, stdout io.Writer, in, out string, part timeline.Part) error {
	from := stdin
	if in != "-" {
		file, err := os.Open(in)
		if err != nil {
			return err
		}
		defer file.Close()
		if same(file, out) {
			return fmt.Errorf("--svg: %s is the trace itself", out)
		}
		from = file
	}
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
