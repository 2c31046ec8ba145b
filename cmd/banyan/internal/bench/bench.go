// Package bench is banyan bench: what is measured on this machine.
package bench

import "github.com/spf13/cobra"

// Command returns the command with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure message passing and failure detection on this machine",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(messagesCommand(), workerCommand(), detectorCommand(), detectorRoleCommand(), detectorNoiseRoleCommand(),
		membershipCommand(), membershipRoleCommand(), idleRoleCommand(), contentionCommand(), contentionRoleCommand(), viewsCommand(), viewsRoleCommand(),
		mpiCommand(), instructionsCommand(), startupCommand(),
		replicationCommand(), replicationRoleCommand(), broadcastCommand(), failoverCommand(),
		loggpCommand(), loggpRoleCommand(), patternsCommand(), ulfmCommand(), snapshotsCommand(), pageCommand())
	return cmd
}
