package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"banyan/internal/trace/timeline"
)

func newTraceCommand() *cobra.Command {
	var svg string
	cmd := &cobra.Command{
		Use:   "trace FILE",
		Short: "Draw the timeline of a trace",
		Long: `Draws a trace, as "banyan sim broadcast --trace FILE" writes it, as a timeline in
LogP's manner: a row for each process, time across, a bar above the row's line for
each send, one below it for each receive, and lines for the flights between. A
row is tinted from the moment at which its process is coloured, and hatched from
that at which it is dead.

The picture is one file that any viewer shows. In a browser the wheel zooms,
dragging moves, a double click shows all again, and what the mouse rests on says
what it is. Up to 4,096 processes and 50,000 messages are drawn; up to a few hundred
processes can be read without zooming.

FILE and OUT may be "-", the standard input and output.`,
		Example: `  # figure 5 of the corrected-trees paper: a Lamé tree
  banyan sim broadcast --procs 9 --tree lame --k 3 --latency 1 --overhead 1 --correction none --trace lame.jsonl
  banyan trace lame.jsonl --svg lame.svg

  # how correction reaches those whom dead processes cut off
  banyan sim broadcast --procs 16 --failed 1,6 --trace run.jsonl
  banyan trace run.jsonl --svg run.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if svg == "" {
				return errors.New("--svg: where should the picture go?")
			}
			return drawTrace(cmd.InOrStdin(), cmd.OutOrStdout(), args[0], svg)
		},
	}
	cmd.Flags().StringVar(&svg, "svg", "", "write the picture to `OUT`")
	return cmd
}

// drawTrace reads all before it writes anything: a bad trace leaves no file.
func drawTrace(stdin io.Reader, stdout io.Writer, in, out string) error {
	from := stdin
	if in != "-" {
		file, err := os.Open(in)
		if err != nil {
			return err
		}
		defer file.Close()
		from = file
	}
	t, err := timeline.Read(from)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	if out == "-" {
		return t.WriteSVG(stdout)
	}
	file, err := os.Create(out)
	if err != nil {
		return fmt.Errorf("--svg: %w", err)
	}
	err = t.WriteSVG(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
