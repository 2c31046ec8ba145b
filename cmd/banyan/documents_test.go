package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"banyan/abi"
	"banyan/internal/testing/house"
)

// foreign are flags that documents name and that aren't banyan's: of other MPIs' mpiexec, which
// are understood from habit, and of other programs.
var foreign = []string{"--oversubscribe", "--mpi", "--no-kill", "--kill-on-bad-exit", "--wait", "--requeue", "--open-mode", "--unbuffered"}

// TestDocumentsNameWhatThereIs holds the command lines in documents against the commands and
// their flags. The rest of what documents name is checked in internal/testing/house.
func TestDocumentsNameWhatThereIs(t *testing.T) {
	documents, err := house.Documents(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, d := range documents {
		for _, c := range d.Code() {
			for _, problem := range wrong(c) {
				t.Errorf("%s:%d: %s", d.Path, c.Line, problem)
			}
			lines++
		}
	}
	if lines < 1000 {
		t.Errorf("only %d pieces of code in %d documents", lines, len(documents))
	}
}

// TestWrongCommandLines has each rule refuse something once.
func TestWrongCommandLines(t *testing.T) {
	for _, test := range []struct {
		text    string
		block   bool
		problem string
	}{
		{"banyan run -n 4 --replicas 2 ./program --any flag", false, ""},
		{"banyan run -n 4 --replica 2 ./program", false, "banyan run has no flag --replica"},
		{"banyan sim broadcast --procs 16 | grep --color x", true, ""},
		{"$ banyan sim broadcast --proces 16", true, "banyan sim broadcast has no flag --proces"},
		{"banyan bench mpi --program './solver -s 8' --procs 2", true, ""},
		{"banyan bench mpi --program './solver -s 8' --prog 2", true, "banyan bench mpi has no flag --prog"},
		{"banyan simulate", false, "banyan has no command simulate"},
		{"banyan sim broadcasts --procs 16", false, "banyan sim has no command broadcasts"},
		{"banyan bench mpi --rounds 6; banyan bench mpi --round 6", false, "banyan bench mpi has no flag --round"},
		{"x=$(banyan plan detector --node 3)", true, "banyan plan detector has no flag --node"},
		{"GOGC=50 bin/banyan check -m 4", true, "banyan check has no flag -m"},
		{"sim quality", false, ""},
		{"--heal", false, ""},
		{"banyan run -n 2 gdb --args ./program", false, ""},
		{"--heall H", false, "no command has a flag --heall"},
		{"… --only failover", false, ""},
		{"banyan: rank 0 waits", false, ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			problems := wrong(house.Code{Text: test.text, Block: test.block, Language: "sh"})
			if want := test.problem; want == "" && len(problems) > 0 || want != "" && (len(problems) != 1 || problems[0] != want) {
				t.Errorf("problems %q, want %q", problems, want)
			}
		})
	}
}

// quoted is one argument, whatever is in it.
var quoted = regexp.MustCompile(`'[^'\n]*'|"[^"\n]*"`)

// wrong says what is wrong with the commands and flags in a piece of code.
func wrong(c house.Code) (problems []string) {
	if c.Block && !slices.Contains([]string{"", "sh", "console"}, c.Language) {
		return nil
	}
	text, _, _ := strings.Cut(c.Text, " #")
	if strings.HasPrefix(text, "--") && text != "--" && !c.Block {
		return wrongFlag(text)
	}
	for _, separator := range []string{"$(", ")", "|", ";", "&&", "||"} {
		text = strings.ReplaceAll(text, separator, "\n")
	}
	text = quoted.ReplaceAllString(text, "QUOTED")
	for _, line := range strings.Split(text, "\n") {
		problems = append(problems, wrongCommand(strings.Fields(line))...)
	}
	return problems
}

// wrongFlag checks a span that begins with a flag: some command must have it.
func wrongFlag(text string) []string {
	name, _, _ := strings.Cut(strings.Fields(text)[0], "=")
	if slices.Contains(foreign, name) || hasFlag(newRootCommand(), strings.TrimPrefix(name, "--")) {
		return nil
	}
	return []string{"no command has a flag " + name}
}

func hasFlag(c *cobra.Command, name string) bool {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	return c.Flags().Lookup(name) != nil || slices.ContainsFunc(c.Commands(), func(sub *cobra.Command) bool { return hasFlag(sub, name) })
}

// wrongCommand checks the words of a command line that calls banyan, if they do.
func wrongCommand(words []string) []string {
	at := slices.IndexFunc(words, func(w string) bool { return w == "banyan" || strings.HasSuffix(w, "/banyan") })
	if at < 0 || slices.ContainsFunc(words[:at], func(w string) bool { return !isPrefix(w) }) {
		return nil
	}
	command, words := newRootCommand(), words[at+1:]
	for len(words) > 0 && command.HasSubCommands() && isWord(words[0]) {
		sub := slices.IndexFunc(command.Commands(), func(c *cobra.Command) bool { return c.Name() == words[0] })
		if sub < 0 {
			return []string{fmt.Sprintf("%s has no command %s", command.CommandPath(), words[0])}
		}
		command, words = command.Commands()[sub], words[1:]
	}
	return wrongFlags(command, words)
}

// isPrefix tells what may stand before a command: a prompt, a variable's value, a priority.
func isPrefix(word string) bool {
	return strings.Contains(word, "=") || slices.Contains([]string{"$", "chrt", "-r", "1", "exec", "time"}, word)
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" && s[0] != '-'
}

// wrongFlags checks the flags of a command up to where another program's arguments begin.
func wrongFlags(command *cobra.Command, words []string) (problems []string) {
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	for i := 0; i < len(words); i++ {
		name, _, assigned := strings.Cut(words[i], "=")
		var flag *pflag.Flag
		switch long, isLong := strings.CutPrefix(name, "--"); {
		case name == "--":
			return problems
		case isLong:
			flag = command.Flags().Lookup(long)
			if flag == nil {
				flag = command.InheritedFlags().Lookup(long)
			}
		case len(name) == 2 && name[0] == '-':
			flag = command.Flags().ShorthandLookup(name[1:])
		case name[0] == '-':
			return problems // spelt as other MPIs' users do
		case slices.Contains([]string{"run", "check"}, command.Name()):
			return problems // a program, and its own arguments
		default:
			continue
		}
		switch {
		case flag == nil:
			problems = append(problems, fmt.Sprintf("%s has no flag %s", command.CommandPath(), name))
		case !assigned && flag.NoOptDefVal == "":
			i++ // its value
		}
	}
	return problems
}

// TestDocumentsCountFunctions checks how many of MPI's functions the documents say there are: those
// that have an entry in capi/entry.c, of those in the table.
func TestDocumentsCountFunctions(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadFile("../../capi/entry.c")
	if err != nil {
		t.Fatal(err)
	}
	there := 0
	for _, f := range table.Functions {
		if regexp.MustCompile(`[( ]` + f.Name + `, \(`).Match(entries) {
			there++
		}
	}
	want := fmt.Sprintf("%d of %d functions", there, len(table.Functions))
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		document, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(document), want) {
			t.Errorf("%s doesn't say %q", name, want)
		}
	}
}
