package main

import "github.com/spf13/cobra"

func newSimCommand() *cobra.Command {
	sim := &cobra.Command{
		Use:   "sim",
		Short: "Simulate protocols in LogP time",
		Long: `The simulator runs the code that real jobs run, in the time of the LogP model:
sending and receiving take a process the overhead o each, a message travels for
the latency L.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sim.AddCommand(newSimBroadcastCommand(), newSimReduceCommand(), newSimCampaignCommand())
	return sim
}
