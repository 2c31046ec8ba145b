// Package sim is banyan sim: the simulators.
package sim

import "github.com/spf13/cobra"

// Command returns the command with its subcommands.
func Command() *cobra.Command {
	sim := &cobra.Command{
		Use:   "sim",
		Short: "Simulate protocols",
		Long: `The simulators run the code that real jobs run. Broadcasts, reductions, agreements and the membership run
in the time of the LogP model: sending and receiving take a process the overhead o each, a message
travels for the latency L. Replicated jobs run in that of LogGP, where bytes take time as well; the
failure detector under the one-port model. Agents of many hosts run with clocks that differ, and so
do whole jobs under faults.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sim.AddCommand(broadcastCommand(), reduceCommand(), agreementCommand(), campaignCommand(), detectorCommand(), qualityCommand(), probingCommand(), membershipCommand(), replicationCommand(), hostsCommand(), jobCommand())
	return sim
}
