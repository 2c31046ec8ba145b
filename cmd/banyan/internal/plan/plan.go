// Package plan is banyan plan: parameters for a platform.
package plan

import "github.com/spf13/cobra"

// Command returns the command with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Choose parameters for a platform",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(detectorCommand(), membershipCommand(), replicationCommand())
	return cmd
}
