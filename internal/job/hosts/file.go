package hosts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxFile bounds a host file, so that a wrong name doesn't fill the memory.
const maxFile = 16 << 20

// ParseFile reads a host file, one host a line, as Open MPI and MPICH have them:
//
//	h0 slots=4 max_slots=8     or  slots = 4, max-slots=8
//	h1:4                       MPICH
//	[fe80::1]:4                an address
//	h2 slots=4 rack=r1 zone=z  what fails together
//	user@h3, or h3 user=name
//
// Comments begin with # or //, or stand between /* and */. The name of the file is for errors.
func ParseFile(name string, r io.Reader) (List, error) {
	entries, err := parseLines(r)
	if err == nil {
		entries, err = merge(entries)
	}
	var at *lineError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s:%d: %w", name, at.line, at.err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(entries) == 0:
		return nil, fmt.Errorf("%s names no hosts", name)
	}
	return entries, nil
}

// lineError is an error in a line, from 1.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }

func parseLines(r io.Reader) (entries List, err error) {
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, 1<<20)
	var c comments
	at := 0
	for lines.Scan() {
		at++
		h, ok, err := parseLine(c.strip(lines.Text()))
		if err != nil {
			return nil, &lineError{at, err}
		}
		if ok {
			entries = append(entries, h)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, &lineError{at + 1, lines.Err()}
	case limited.N == 0:
		return nil, fmt.Errorf("this is no host file: it has more than %d MiB", maxFile>>20)
	case c.open:
		return nil, &lineError{at, errors.New("a comment isn't closed by */")}
	}
	return entries, nil
}

// spacedEquals is an equals sign with the spaces around it.
var spacedEquals = regexp.MustCompile(`\s*=\s*`)

// parseLine reads a line without comments. It returns false if the line names no host.
func parseLine(line string) (h Host, ok bool, err error) {
	words := strings.Fields(spacedEquals.ReplaceAllString(line, "="))
	if len(words) == 0 {
		return h, false, nil
	}
	if h, err = entry(words[0]); err != nil {
		return h, false, err
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if err := h.set(key, value, word); err != nil {
			return h, false, err
		}
	}
	return h, true, nil
}

// set sets what a word behind the host's name says.
func (h *Host) set(key, value, word string) (err error) {
	once := func(set bool) error {
		if set {
			return fmt.Errorf("host %s has its %s twice", h.Name, key)
		}
		return nil
	}
	name := func(to *string) error {
		if !plain(value) {
			return fmt.Errorf("host %s with %q: want a name of letters, digits, dots, dashes and underscores", h.Name, word)
		}
		err := once(*to != "")
		*to = value
		return err
	}
	slots := func(to *int) error {
		if err := once(*to != 0); err != nil {
			return err
		}
		if *to, err = number(value); err != nil {
			return fmt.Errorf("host %s with %w", h.Name, err)
		}
		return nil
	}
	switch key {
	case "slots":
		return slots(&h.Slots)
	case "max_slots", "max-slots":
		return slots(&h.Max)
	case "rack":
		return name(&h.Rack)
	case "zone":
		return name(&h.Zone)
	case "user", "username":
		return name(&h.User)
	}
	return fmt.Errorf("host %s: %q means nothing here: behind a host may stand slots=, max_slots=, rack=, zone= and user=", h.Name, word)
}

// comments removes comments, line by line.
type comments struct{ open bool } // a /* wasn't closed

// strip is a line without its comments.
func (c *comments) strip(line string) string {
	var rest strings.Builder
	for line != "" {
		if c.open {
			_, after, closed := strings.Cut(line, "*/")
			if !closed {
				return rest.String()
			}
			line, c.open = after, false
			continue
		}
		at := len(line)
		for _, mark := range []string{"#", "//", "/*"} {
			if i := strings.Index(line, mark); i >= 0 {
				at = min(at, i)
			}
		}
		rest.WriteString(line[:at])
		if !strings.HasPrefix(line[at:], "/*") {
			return rest.String()
		}
		rest.WriteByte(' ')
		line, c.open = line[at+2:], true
	}
	return rest.String()
}
