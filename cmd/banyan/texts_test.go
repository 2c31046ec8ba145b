package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// banyan texts writes a page for each command that help lists, which man can read, and completion
// that the shells can read, where they are installed.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	root := newRootCommand()
	root.SetArgs([]string{"texts", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	commands := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" || c.Name() == "help" {
			return
		}
		commands++
		name := filepath.Join(dir, "man/man1", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand())
	if commands < 40 {
		t.Errorf("only %d commands", commands)
	}
	check := func(program string, args ...string) {
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("%s isn't installed", program)
			return
		}
		if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
			t.Errorf("%s %v: %v\n%s", program, args, err, out)
		}
	}
	check("bash", "-n", filepath.Join(dir, "bash-completion/completions/banyan"))
	check("zsh", "-n", filepath.Join(dir, "zsh/site-functions/_banyan"))
	check("fish", "-n", filepath.Join(dir, "fish/vendor_completions.d/banyan.fish"))
	pages, err := filepath.Glob(filepath.Join(dir, "man/man1/banyan*.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		check("mandoc", "-T", "lint", "-W", "error", p)
	}
}
