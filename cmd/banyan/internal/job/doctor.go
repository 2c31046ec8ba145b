package job

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/doctor"
	"banyan/internal/job/doctor/probe"
	"banyan/internal/job/hosts"
	"banyan/internal/study/table"
)

const doctorLong = `Doctor looks whether jobs will run on this machine, and says what to do where something is in the
way: cores, limits of open files and processes, shared memory, the reading of other processes'
memory (Yama), handles of processes, loopback, ports, the machine's name, folders. With --host or
--hostfile, and inside an allocation (Slurm, PBS, the MPI Operator), it looks at the other hosts,
too: whether banyan run can start something there, whether the same build of banyan is there,
whether the host can connect back, whose clock is off, and all that is looked at here.

A problem keeps jobs from running, or from running there. A warning makes them slower, smaller or
less safe.

Exit code: 0 if there is no problem, 1 if there is one, 2 if the command line is wrong.`

const doctorExample = `  banyan doctor
  banyan doctor --host h0:4,h1:4
  banyan doctor --hostfile hosts --format json
  salloc --nodes 4 banyan doctor`

// DoctorCommand returns banyan doctor.
func DoctorCommand() *cobra.Command {
	var format table.Format
	var part partFlags
	var flags hostFlags
	var raw bool
	var back []string
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Look whether jobs will run here, or on some hosts, and say what to do",
		Long:    doctorLong,
		Example: doctorExample,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if raw {
				if err := probe.Answer(os.Stdin, os.Stdout, back); err != nil {
					return cli.Failed(err)
				}
				return nil
			}
			if part.list, err = part.parseHosts(); err != nil {
				return err
			}
			here := probe.Machine()
			if err := flags.find([]*partFlags{&part}); err != nil {
				if part.list != nil || flags.launchAgent != "" {
					return err
				}
				here.AllocationTrouble = err.Error()
			}
			here.Batch = probe.Batch(hosts.ThisSystem())
			findings := doctor.Machine(&here)
			others, err := examined(cmd.Context(), &flags)
			if err != nil {
				return cli.Failed(err)
			}
			findings = append(findings, doctor.Hosts(&here, others)...)
			if err := writeFindings(format, findings); err != nil {
				return cli.Failed(err)
			}
			if doctor.Bad(findings) {
				return cli.Exit(1, nil)
			}
			return nil
		},
	}
	cli.FormatFlag(cmd.Flags(), &format)
	cmd.Flags().StringVar(&part.hosts, "host", "", "look at `HOSTS`, too, as h0:4,h1:4")
	cmd.Flags().StringVar(&part.hostsFile, "hostfile", "", "look at the hosts in `FILE`, too")
	cmd.Flags().StringVar(&flags.launchAgent, "launch-agent", "", "reach them by `COMMAND` with {host} and {agent} in it, as banyan run does (default ssh, or $BANYAN_SSH; srun inside Slurm)")
	cmd.Flags().BoolVar(&raw, "raw", false, "for another banyan")
	cmd.Flags().StringSliceVar(&back, "back", nil, "for another banyan")
	cmd.Flags().MarkHidden("raw")
	cmd.Flags().MarkHidden("back")
	return cmd
}

// examined asks the other hosts of the list or the allocation.
func examined(ctx context.Context, f *hostFlags) ([]doctor.Host, error) {
	r := f.reach()
	if r == nil {
		return nil, nil
	}
	var others hosts.List
	for i, h := range f.list {
		if i != f.here {
			others = append(others, h)
		}
	}
	return probe.Ask(ctx, r, others)
}

// writeFindings writes findings: for people, what is to be done stands below the table.
func writeFindings(format table.Format, all []doctor.Finding) error {
	columns := []table.Column[doctor.Finding]{
		table.Col("host", func(f *doctor.Finding) any { return f.Host }),
		table.Col("check", func(f *doctor.Finding) any { return f.Check }),
		table.Col("state", func(f *doctor.Finding) any { return string(f.State) }),
		table.Col("found", func(f *doctor.Finding) any { return f.Found }),
	}
	if format != table.Text {
		return table.Write(os.Stdout, format, append(columns, table.Col("do", func(f *doctor.Finding) any { return f.Do })), all)
	}
	if err := table.Write(os.Stdout, format, columns, all); err != nil {
		return err
	}
	var text strings.Builder
	for _, f := range all {
		if f.State != doctor.Fine {
			fmt.Fprintf(&text, "\n%s of %s: %s.\n  %s.\n", f.Check, f.Host, strings.TrimSuffix(f.Found, "."), f.Do)
		}
	}
	if text.Len() == 0 {
		text.WriteString("\nNothing is in the way.\n")
	}
	_, err := os.Stdout.WriteString(text.String())
	return err
}
