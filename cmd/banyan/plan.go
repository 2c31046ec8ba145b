package main

import "github.com/spf13/cobra"

func newPlanCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Choose parameters for a platform",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPlanDetectorCommand(), newPlanMembershipCommand(), newPlanReplicationCommand())
	return cmd
}
