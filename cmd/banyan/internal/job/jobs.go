package job

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
	"banyan/internal/study/table"
)

const jobsLong = `Jobs lists your jobs on this machine: those that banyan run has started here, wherever their
processes are. A job belongs to the machine on which it was started, and to the user.

Columns: the job's name (for banyan attach), its age, its program, how many processes run, on how
many hosts, its state, and what shows it: own (the command that has started it, and no other), or
the number of consoles that are attached. A job is starting, running, ending, or ended, with its
exit code: then nobody has seen its end, and banyan attach shows it, for 24 hours.`

// JobsCommand returns banyan jobs.
func JobsCommand() *cobra.Command {
	var format table.Format
	cmd := &cobra.Command{
		Use:     "jobs",
		Short:   "List the jobs that were started on this machine",
		Long:    jobsLong,
		Example: "  banyan jobs\n  banyan jobs --format json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			jobs := console.List(context.Background())
			if err := table.Write(os.Stdout, format, jobColumns(format, time.Now()), jobs); err != nil {
				return cli.Failed(err)
			}
			return nil
		},
	}
	cli.FormatFlag(cmd.Flags(), &format)
	return cmd
}

// jobColumns are the columns of banyan jobs.
func jobColumns(format table.Format, now time.Time) []table.Column[console.Info] {
	age := table.Col("age_s", func(i *console.Info) any { return now.Sub(i.Begun).Seconds() })
	program := table.Col("program", func(i *console.Info) any { return strings.Join(i.Command, " ") })
	if format == table.Text {
		age = table.Col("age", func(i *console.Info) any { return now.Sub(i.Begun).Round(time.Second).String() })
		program = table.Col("program", func(i *console.Info) any { return shorten(strings.Join(i.Command, " "), 40) })
	}
	return []table.Column[console.Info]{
		table.Col("job", func(i *console.Info) any { return i.Name }), age, program,
		table.Col("processes", func(i *console.Info) any { return i.Processes }),
		table.Col("hosts", func(i *console.Info) any { return i.Hosts }),
		table.Col("state", func(i *console.Info) any {
			if i.State == console.Ended {
				return fmt.Sprintf("ended (%d)", i.ExitCode)
			}
			return i.State
		}),
		table.Col("consoles", func(i *console.Info) any {
			if i.Own {
				return "own"
			}
			return fmt.Sprint(i.Consoles)
		}),
	}
}

// shorten leaves out what doesn't fit into n bytes.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-3], "") + "..."
}
