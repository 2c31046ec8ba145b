package job

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completeFlags offers shells the flags of a command that reads its flags itself. Whatever else
// stands there is a file: the program, or a flag's value.
func completeFlags(cmd *cobra.Command, _ []string, begun string) (offers []string, how cobra.ShellCompDirective) {
	if !strings.HasPrefix(begun, "-") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if name := "--" + f.Name; !f.Hidden && strings.HasPrefix(name, begun) {
			what, _, _ := strings.Cut(f.Usage, "\n")
			offers = append(offers, name+"\t"+strings.ReplaceAll(what, "`", ""))
		}
	})
	return offers, cobra.ShellCompDirectiveNoFileComp
}
