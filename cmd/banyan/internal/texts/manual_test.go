package texts

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// tree is a command with what pages show and what they don't.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "banyan", Short: "Run programs", Version: "x"}
	run := &cobra.Command{Use: "run [flags] PROGRAM", Short: "Run a program", Run: func(*cobra.Command, []string) {},
		Long: "First paragraph,\n.its 2nd line.\n\n  a table\\n  'kept'\n\nLast.\n", Example: "  banyan run -n 4 ./a"}
	run.Flags().IntP("ranks", "n", 3, "`NUMBER` of ranks")
	run.Flags().String("encrypt", "", "what to encrypt")
	run.Flags().Lookup("encrypt").NoOptDefVal = "all"
	run.Flags().Bool("raw", false, "for machines")
	run.Flags().MarkHidden("raw")
	root.AddCommand(run, &cobra.Command{Use: "agent", Short: "For launchers", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

func TestPages(t *testing.T) {
	all := map[string]string{}
	for _, p := range pages(tree(), "Banyan 1.2") {
		all[p.name] = string(p.text)
	}
	if len(all) != 4 || all["mpirun"] != ".so man1/banyan-run.1\n" || all["mpiexec"] != all["mpirun"] {
		t.Errorf("pages %v", all)
	}
	run := all["banyan-run"]
	for _, want := range []string{
		".TH \"BANYAN\\-RUN\" 1 \"\" \"Banyan 1.2\"", ".SH NAME\nbanyan\\-run \\- Run a program\n", ".B banyan run\n[flags] PROGRAM\n",
		".SH DESCRIPTION\nFirst paragraph,\n\\&.its 2nd line.\n.nf\n.PP\n  a table\\en  \\(aqkept\\(aq\n.fi\n.PP\nLast.\n",
		"\\fB\\-n\\fR, \\fB\\-\\-ranks\\fR \\fINUMBER\\fR\nNUMBER of ranks (default 3)\n", "\\fB\\-\\-encrypt\\fR[=\\fIstring\\fR]\n",
		".SH EXAMPLES\n.nf\n  banyan run \\-n 4 ./a\n.fi\n", ".SH SEE ALSO\n\\fBbanyan\\fR(1)\n",
	} {
		if !strings.Contains(run, want) {
			t.Errorf("no %q in\n%s", want, run)
		}
	}
	if strings.Contains(run, "raw") {
		t.Errorf("a hidden flag is shown:\n%s", run)
	}
	if !strings.Contains(all["banyan"], ".TP\n.B banyan run\nRun a program\n") || strings.Contains(all["banyan"], "agent") {
		t.Errorf("the commands aren't those that help shows:\n%s", all["banyan"])
	}
}
