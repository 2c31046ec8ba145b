package starter

import (
	"errors"
	"fmt"
	"strings"
)

// How says how a command is run on another host: words with {host} and {agent} in them.
type How []string

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
		return nil, err
	}
	return append(append(How(words), sshOptions...), "{host}", "{script}"), nil
}

// Srun is a step of one agent on a node, in the allocation that this process runs in.
func Srun() How {
	return How{"srun", "--nodes=1", "--ntasks=1", "--nodelist={host}", "--no-kill", "--kill-on-bad-exit=0", "--wait=0", "--mpi=none",
		"--overlap", "--cpu-bind=none", "--mem=0", "sh", "-c", "{script}"}
}

// Template is a command such as "CMD {host} {agent}". {agent} stands for the words that start the
// agent.
func Template(text string) (How, error) {
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(text, "{host}") || !strings.Contains(text, "{agent}") {
		return nil, fmt.Errorf("%q: want a command with {host} and {agent} in it, such as \"ssh {host} {agent}\"", text)
	}
	return How(words), nil
}

// command is the command that runs an agent on a host. agent are its words, script is a line for a
// shell that does the same.
func (h How) command(host string, agent []string, script string) (argv []string) {
	for _, word := range h {
		switch word {
		case "{agent}":
			argv = append(argv, agent...)
		case "{script}":
			argv = append(argv, script)
		default:
			argv = append(argv, strings.NewReplacer("{host}", host, "{agent}", strings.Join(agent, " ")).Replace(word))
		}
	}
	return argv
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
