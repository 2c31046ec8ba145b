package main

import (
	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/bench"
	"banyan/cmd/banyan/internal/demo"
	"banyan/cmd/banyan/internal/job"
	"banyan/cmd/banyan/internal/plan"
	"banyan/cmd/banyan/internal/progress"
	"banyan/cmd/banyan/internal/reproduce"
	"banyan/cmd/banyan/internal/sim"
	"banyan/cmd/banyan/internal/texts"
	"banyan/cmd/banyan/internal/trace"
	"banyan/cmd/banyan/internal/version"
	"banyan/cmd/banyan/internal/watch"
)

// newRootCommand makes the command with all its subcommands.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "banyan",
		Version: version.This().String(),
		Short:   "Run message-passing programs that outlive the death of processes",
		// main prints errors, and a mistake in an argument shouldn't scroll away behind the usage.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(job.RunCommand(watch.Begin), job.JobsCommand(), job.AttachCommand(), job.HostsCommand(), job.TopCommand(), job.LaunchCommand(watch.Begin), job.LeadCommand(watch.Begin), job.AgentCommand(watch.NewPage), job.StartAgentCommand(watch.NewPage), job.CheckCommand(func(total int, what string) job.Bar { return progress.New(total, what) }), job.DoctorCommand(), demo.Command(), sim.Command(), plan.Command(), trace.Command(), bench.Command(), reproduce.Command(), texts.Command(version.This().Name()))
	return root
}
