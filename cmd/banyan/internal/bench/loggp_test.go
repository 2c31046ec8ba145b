package bench

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestLoggpFlags: what makes no sense is refused before anything is measured, and the error names
// the flag.
func TestLoggpFlags(t *testing.T) {
	dir := t.TempDir()
	odd := filepath.Join(dir, "odd.json")
	if err := os.WriteFile(odd, []byte(`{"latency": "soon"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"loggp --transport udp":                  "--transport",
		"loggp --timeout 0s":                     "--timeout",
		"loggp --rounds 0":                       "--rounds",
		"loggp --out " + dir + "/none/here.json": "--out",
		"patterns --network " + dir + "/none":    "--network",
		"patterns --network " + odd:              "latency",
		"patterns --pattern ring":                "--pattern",
		"patterns --pattern cg --ranks 3":        "--ranks",
		"patterns --ranks 40 --replicas 2":       "--ranks",
		"patterns --bytes -1":                    "--bytes",
		"patterns --steps 1":                     "--steps",
		"patterns --compute 5000s":               "--compute",
		"patterns --transport udp":               "--transport",
	} {
		words := strings.Fields(args)
		var cmd *cobra.Command
		if cmd = loggpCommand(); words[0] == "patterns" {
			cmd = patternsCommand()
		}
		cmd.SetArgs(words[1:])
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		ctx, stop := context.WithCancel(t.Context())
		stop() // nothing is measured, whatever passes
		if err := cmd.ExecuteContext(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error about %s", args, err, want)
		}
	}
}
