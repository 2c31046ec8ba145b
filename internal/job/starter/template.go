package starter

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// How says how a command is run on other hosts.
type How struct {
	// Words of the command. In them stand {host}, or {hosts} (with commas between) and {count}, and
	// {agent} or {script} for what is to be run.
	Words    []string
	Together bool // the command runs on several hosts at once
	Heads    bool // the command works on the hosts, too: they may start others
	Labels   bool // the command may put the number of the task before each line
}

// sshOptions make ssh ask nothing, say only errors, and notice a dead connection. The user's
// options stand before them, and so take precedence.
var sshOptions = []string{
	"-x", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "LogLevel=ERROR", "-o", "ServerAliveInterval=10",
}

// SSH is ssh, or the command that stands in its place, such as "ssh -p 2222".
func SSH(command string) (How, error) {
	if command == "" {
		command = "ssh"
	}
	words, err := split(command)
	if err != nil {
		return How{}, err
	}
	return How{Words: append(append(words, sshOptions...), "{host}", "{script}"), Heads: true}, nil
}

// Srun is a step of one agent a node, in the allocation that this process runs in. Slurm passes
// srun's stdin on to all tasks.
func Srun() How {
	return How{Words: []string{"srun", "--nodes={count}", "--ntasks={count}", "--ntasks-per-node=1", "--nodelist={hosts}", "--label", "--no-kill",
		"--kill-on-bad-exit=0", "--wait=0", "--mpi=none", "--overlap", "--cpu-bind=none", "--mem=0", "sh", "-c", "{script}"},
		Together: true, Labels: true}
}

// Template is a command such as "CMD {host} {agent}". {agent} stands for the words that start the
// agent. A command with {hosts} runs on several hosts, and passes its stdin on to all.
func Template(text string) (How, error) {
	words, err := split(text)
	if err != nil {
		return How{}, err
	}
	one, several := strings.Contains(text, "{host}"), strings.Contains(text, "{hosts}")
	if one == several || !strings.Contains(text, "{agent}") {
		return How{}, fmt.Errorf("%q: want a command with {agent} and either {host} or {hosts} in it, such as \"ssh {host} {agent}\"", text)
	}
	return How{Words: words, Together: several, Labels: several}, nil
}

// command is the command that runs agents on hosts. agent are its words, script is a line for a
// shell that does the same.
func (h How) command(hosts, agent []string, script string) (argv []string) {
	replacer := strings.NewReplacer("{host}", hosts[0], "{hosts}", strings.Join(hosts, ","), "{count}", strconv.Itoa(len(hosts)),
		"{agent}", strings.Join(agent, " "))
	for _, word := range h.Words {
		switch word {
		case "{agent}":
			argv = append(argv, agent...)
		case "{script}":
			argv = append(argv, script)
		default:
			argv = append(argv, replacer.Replace(word))
		}
	}
	return argv
}

// On is the command that runs a command of banyan on one host, and passes on what the two say to
// each other, byte by byte. self is the path of banyan there.
func (h How) On(host, self string, words ...string) []string {
	argv := h.command([]string{host}, append([]string{self}, words...), script(self, slices.Clone(words)...))
	if argv[0] != "srun" {
		return argv
	}
	argv = slices.DeleteFunc(argv, func(word string) bool { return word == "--label" })
	return slices.Insert(argv, 1, "--unbuffered") // or Slurm keeps back what isn't a whole line
}

// label takes the number of a task from the front of a line, as "12: text". It is -1 if there is
// none.
func (h How) label(line string) (task int, text string) {
	if number, rest, ok := strings.Cut(line, ": "); ok && h.Labels {
		if task, err := strconv.Atoi(strings.TrimSpace(number)); err == nil && task >= 0 {
			return task, rest
		}
	}
	return -1, line
}

// split divides a command into words as a shell does: at spaces, but not between quotes or behind
// a backslash.
func split(text string) (words []string, err error) {
	var word strings.Builder
	in := false // in a word
	quote := rune(0)
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(c)
			in = true
		}
	}
	switch {
	case quote != 0 || escaped:
		return nil, fmt.Errorf("%q: a quote isn't closed", text)
	case in:
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, errors.New("the command is empty")
	}
	return words, nil
}

// quote is a word for a shell.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
