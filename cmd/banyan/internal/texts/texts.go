// Package texts writes what an installation has beside its programs and what is made from the
// commands: a manual page for each command, and the completion of command lines for bash, zsh and
// fish.
//
// The same commands give the same bytes: no page has the time of its making.
//
// # Limits
//
// The help of a command has no markup. So a page has its paragraphs as they are, and a line that
// begins with white space stays a line of its own. Completion is of banyan; mpiexec and the
// compilers have none.
package texts

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"banyan/cmd/banyan/internal/cli"
)

// The places of the files below the directory share of an installation, where shells and man look.
const (
	manual = "man/man1"
	bash   = "bash-completion/completions/banyan"
	zsh    = "zsh/site-functions/_banyan"
	fish   = "fish/vendor_completions.d/banyan.fish"
)

// Command returns banyan texts, which the build calls.
func Command(version string) *cobra.Command {
	return &cobra.Command{
		Use:     "texts DIR",
		Short:   "Write the manual pages and the completion for shells into DIR",
		Example: "  banyan texts share",
		Hidden:  true, // scripts/share.sh calls it
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := write(cmd.Root(), version, args[0]); err != nil {
				return cli.Failed(err)
			}
			return nil
		},
	}
}

// write makes all files below dir.
func write(root *cobra.Command, version, dir string) error {
	root.InitDefaultCompletionCmd()
	for _, p := range pages(root, version) {
		if err := file(dir, filepath.Join(manual, p.name+".1"), func(name string) error { return os.WriteFile(name, p.text, 0o644) }); err != nil {
			return err
		}
	}
	for name, generate := range map[string]func(string) error{
		bash: func(name string) error { return root.GenBashCompletionFileV2(name, true) },
		zsh:  root.GenZshCompletionFile,
		fish: func(name string) error { return root.GenFishCompletionFile(name, true) },
	} {
		if err := file(dir, name, generate); err != nil {
			return err
		}
	}
	return nil
}

// file makes a file below dir, and the directories above it.
func file(dir, name string, generate func(name string) error) error {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return generate(path)
}
