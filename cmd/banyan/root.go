package main

import "github.com/spf13/cobra"

// newRootCommand makes the command with all its subcommands.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "banyan",
		Version: version(),
		Short:   "Run message-passing programs that outlive the death of processes",
		// main prints errors, and a mistake in an argument shouldn't scroll away behind the usage.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newRunCommand(), newCheckCommand(), newSimCommand(), newPlanCommand(), newTraceCommand(), newBenchCommand(), newReproduceCommand())
	return root
}
