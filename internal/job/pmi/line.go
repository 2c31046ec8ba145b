package pmi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A message that is sent as one word has underscores for its blanks, as other implementations
// send it. What was an underscore before is escaped, so that names like BANYAN_BCAST arrive whole.
var (
	inOneWord = strings.NewReplacer(" ", "_", "_", "%5F", "%", "%25")
	inWords   = strings.NewReplacer("_", " ", "%5F", "_", "%25", "%")
)

// field is one key=value of a line.
type field struct{ key, value string }

// line is one line of the protocol: the command first, then its arguments.
type line struct {
	cmd    string
	fields []field
}

// newLine makes a line of a command and alternating keys and values.
func newLine(cmd string, keyValues ...string) line {
	l := line{cmd: cmd}
	for i := 0; i+1 < len(keyValues); i += 2 {
		l.fields = append(l.fields, field{keyValues[i], keyValues[i+1]})
	}
	return l
}

// parseLine parses a line without its end. A word without "=" is a field without a value: some
// servers write such.
func parseLine(s string) (line, error) {
	var l line
	for i, word := range strings.Fields(s) {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case i > 0:
			l.fields = append(l.fields, field{key, value})
		case key == "cmd" && value != "":
			l.cmd = value
		case key == "mcmd":
			return line{}, fmt.Errorf("%q: commands of several lines are not supported", word)
		default:
			return line{}, fmt.Errorf("%q: a line must start with cmd=", word)
		}
	}
	if l.cmd == "" {
		return line{}, errors.New("empty line")
	}
	return l, nil
}

// get returns the value of the first field with this key.
func (l line) get(key string) (string, bool) {
	for _, f := range l.fields {
		if f.key == key {
			return f.value, true
		}
	}
	return "", false
}

// number returns the value of a field that must be a decimal number.
func (l line) number(key string) (int, error) {
	s, ok := l.get(key)
	if !ok {
		return 0, fmt.Errorf("cmd=%s has no %s", l.cmd, key)
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("cmd=%s: %s=%q is no number", l.cmd, key, s)
	}
	return n, nil
}

// String is the line as it is sent, without its end.
func (l line) String() string {
	var b strings.Builder
	b.WriteString("cmd=" + l.cmd)
	for _, f := range l.fields {
		b.WriteString(" " + f.key + "=" + f.value)
	}
	return b.String()
}

// stream reads and writes lines.
type stream struct {
	r *bufio.Reader
	w io.Writer
}

func newStream(rw io.ReadWriter) stream {
	return stream{bufio.NewReaderSize(rw, maxLine+1), rw}
}

// read returns the next line, or io.EOF if the other side has gone.
func (s stream) read() (line, error) {
	b, err := s.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		return line{}, fmt.Errorf("a line is longer than %d bytes", maxLine)
	}
	if err != nil {
		return line{}, err
	}
	return parseLine(string(b[:len(b)-1]))
}

func (s stream) write(l line) error { return s.writeText(l.String() + "\n") }

func (s stream) writeText(text string) error {
	_, err := io.WriteString(s.w, text)
	return err
}

// more says whether another line has arrived.
func (s stream) more() bool {
	b, _ := s.r.Peek(s.r.Buffered())
	return bytes.IndexByte(b, '\n') >= 0
}

// checkWord says why s can't be sent as a key or value, or returns nil.
func checkWord(what, s string, limit int) error {
	switch {
	case s == "":
		return fmt.Errorf("pmi: the %s is empty", what)
	case len(s) > limit:
		return fmt.Errorf("pmi: the %s has %d bytes, %d are allowed", what, len(s), limit)
	case strings.ContainsFunc(s, isBlank):
		return fmt.Errorf("pmi: the %s %q contains more than printable ASCII", what, s)
	case what == "key" && strings.Contains(s, "="):
		return fmt.Errorf("pmi: the key %q contains a =", s)
	}
	return nil
}

// isBlank matches what ends a word, here or in another implementation.
func isBlank(r rune) bool { return r <= ' ' || r >= 0x7f }
