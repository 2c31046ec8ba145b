package replication

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// npb is how the NAS Parallel Benchmarks of MPI call their programs: NAME.CLASS.PROCESSES.
var npb = regexp.MustCompile(`^[a-z]{2}\.[SWABCDEF]\.([0-9]+)$`)

// ParseProgram reads a user's program, as it would be typed: "./solver -tolerance 1e-9 'my input'".
// Words are separated by spaces; quotes and backslashes keep them together as in a shell, nothing
// else is expanded. In front "-n RANKS" may say how many ranks it has. Without it a program of the
// NAS benchmarks has as many as its name says, and others have the bench's.
//
// The program must exist.
func ParseProgram(text string) (Application, error) {
	words, err := splitWords(text)
	if err != nil {
		return Application{}, err
	}
	a := Application{Varies: true}
	if len(words) > 0 && words[0] == "-n" {
		if len(words) < 2 {
			return a, errors.New("-n: want a number of ranks, and a program")
		}
		if a.Ranks, err = strconv.Atoi(words[1]); err != nil || a.Ranks < 2 {
			return a, fmt.Errorf("-n %s: want 2 ranks at least", words[1])
		}
		words = words[2:]
	}
	if len(words) == 0 || words[0] == "" {
		return a, errors.New("want a program")
	}
	if words[0], err = exec.LookPath(words[0]); err != nil {
		return a, err
	}
	base := filepath.Base(words[0])
	if m := npb.FindStringSubmatch(base); m != nil && a.Ranks == 0 {
		a.Ranks, _ = strconv.Atoi(m[1])
		if a.Ranks < 2 {
			return a, fmt.Errorf("%s is built for %d process: want 2 at least, which exchange messages", base, a.Ranks)
		}
	}
	a.Command = words
	a.Name = strings.Join(append([]string{base}, words[1:]...), " ")
	return a, nil
}

// splitWords splits a command line.
func splitWords(text string) (words []string, err error) {
	var word strings.Builder
	begun, quote, escaped := false, rune(0), false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			begun, quote = true, c
		case strings.ContainsRune(" \t\n", c):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote isn't closed")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
