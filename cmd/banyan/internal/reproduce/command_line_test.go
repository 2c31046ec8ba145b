package reproduce

import (
	"testing"

	"github.com/spf13/cobra"
)

// TestCommandLine: what goes on is what was typed, in words that a shell leaves alone.
func TestCommandLine(t *testing.T) {
	for want, args := range map[string][]string{
		"corrected-trees --out full --full":                                           {"--out", "full", "--full"},
		"corrected-trees --out 'my report' --seed 7":                                  {"-o", "my report", "--seed=7"},
		`corrected-trees --out 'it'\''s' --quick=false`:                               {"-o", "it's", "--quick=false"},
		`replication --out r --full --program './a b' --program 'sh -c '\''x, y'\'''`: {"-o", "r", "--full", "--program", "./a b", "--program", "sh -c 'x, y'"},
	} {
		var cmd *cobra.Command
		if cmd = correctedTreesCommand(); want[:1] == "r" {
			cmd = replicationCommand()
		}
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		if got := commandLine(cmd); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
