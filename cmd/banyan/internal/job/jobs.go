package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
	"banyan/internal/job/reach"
	"banyan/internal/study/table"
)

const jobsLong = `Jobs lists your jobs on this machine: those that banyan run has started here, wherever their
processes are. A job belongs to the machine on which its launcher is: that on which it was started,
or if that was lost the one whose agent leads. --host lists the jobs of other machines.

Columns: the job's name (for banyan attach), its age, its program, how many processes run, on how
many hosts, its state, and what shows it: own (the command that has started it, and no other), or
the number of consoles that are attached. A job is starting, running, ending, or ended, with its
exit code: then nobody has seen its end, and banyan attach shows it, for 24 hours. A job that another
one has spawned (MPI_Comm_spawn) is listed behind that, as NAME/1 and so on: its output is NAME's.`

// JobsCommand returns banyan jobs.
func JobsCommand() *cobra.Command {
	var format table.Format
	var raw bool
	var hosts, launch string
	cmd := &cobra.Command{
		Use:     "jobs",
		Short:   "List the jobs that were started on this machine",
		Long:    jobsLong,
		Example: "  banyan jobs\n  banyan jobs --format json\n  banyan jobs --host h0,h1",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if hosts != "" {
				return jobsThere(strings.Split(hosts, ","), launch, format)
			}
			jobs := console.List(context.Background())
			if raw {
				return json.NewEncoder(os.Stdout).Encode(jobs)
			}
			var all []console.Info
			for i := range jobs {
				jobs[i].Each(func(x *console.Info) { all = append(all, *x) })
			}
			if err := table.Write(os.Stdout, format, jobColumns(format, time.Now()), all); err != nil {
				return cli.Failed(err)
			}
			return nil
		},
	}
	cli.FormatFlag(cmd.Flags(), &format)
	cmd.Flags().StringVar(&hosts, "host", "", "list those of other machines, `HOSTS` as h0,h1, which are reached by ssh")
	cmd.Flags().StringVar(&launch, "launch-agent", "", "reach them by `COMMAND` with {host} and {agent} in it, as banyan run does (default ssh, or $BANYAN_SSH)")
	cmd.Flags().BoolVar(&raw, "raw", false, "for another banyan")
	cmd.Flags().MarkHidden("raw")
	return cmd
}

// jobThere is a job on a host.
type jobThere struct {
	Host string
	console.Info
}

// jobsThere lists the jobs of other machines. It fails if one of these can't be asked.
func jobsThere(hosts []string, launch string, format table.Format) error {
	r, err := reachOf(hosts, launch)
	if err != nil {
		return err
	}
	lists, errs := make([][]console.Info, len(hosts)), make([]error, len(hosts))
	var asking sync.WaitGroup
	for i, host := range hosts {
		asking.Go(func() { lists[i], errs[i] = reach.Jobs(context.Background(), r, host) })
	}
	asking.Wait()
	var all []jobThere
	for i, list := range lists {
		for _, info := range list {
			info.Each(func(x *console.Info) { all = append(all, jobThere{hosts[i], *x}) })
		}
	}
	columns := []table.Column[jobThere]{table.Col("host", func(j *jobThere) any { return j.Host })}
	for _, c := range jobColumns(format, time.Now()) {
		columns = append(columns, table.Col(c.Name, func(j *jobThere) any { return c.Value(&j.Info) }))
	}
	if err := errors.Join(table.Write(os.Stdout, format, columns, all), errors.Join(errs...)); err != nil {
		return cli.Failed(err)
	}
	return nil
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
