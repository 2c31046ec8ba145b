package replication

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// errOutput says that replication has changed a program's output.
var errOutput = errors.New("its output isn't that of the job without replicas")

// output is what an application has printed in jobs without replicas, to which what replicas print
// is compared. Programs may print times: a line counts only if all jobs without replicas have
// printed it, equally often.
type output struct {
	first  []byte           // of a program that always prints the same
	counts []map[string]int // of lines, for each job without replicas
	shapes map[string]bool  // of all these lines: their numbers left out
}

// linesOf counts the lines of what a job has printed.
func linesOf(out []byte) map[string]int {
	count := map[string]int{}
	for line := range bytes.Lines(out) {
		if text := strings.TrimRight(string(line), " \t\r\n"); text != "" {
			count[text]++
		}
	}
	return count
}

var numbers = regexp.MustCompile(`[-+]?[0-9]+(\.[0-9]*)?([eEdD][-+]?[0-9]+)?`)

// shape is a line without its numbers, and without how many spaces stand before them.
func shape(line string) string {
	return strings.Join(strings.Fields(numbers.ReplaceAllString(line, " # ")), " ")
}

// same returns an error if a job has printed another byte than the first one.
func (o *output) same(out []byte) error {
	if o.first == nil {
		o.first = out
	}
	if !bytes.Equal(out, o.first) {
		return errOutput
	}
	return nil
}

// native notes what a job without replicas has printed.
func (o *output) native(out []byte) {
	count := linesOf(out)
	o.counts = append(o.counts, count)
	if o.shapes == nil {
		o.shapes = map[string]bool{}
	}
	for line := range count {
		o.shapes[shape(line)] = true
	}
}

// stable tells whether all jobs without replicas have printed a line equally often, and how often.
func (o *output) stable(line string) (times int, ok bool) {
	times = o.counts[0][line]
	for _, c := range o.counts[1:] {
		if c[line] != times {
			return 0, false
		}
	}
	return times, true
}

// replicated returns an error if a job with replicas has printed something else than the jobs
// without.
func (o *output) replicated(out []byte) error {
	count := linesOf(out)
	for line := range o.counts[0] {
		if times, ok := o.stable(line); ok && count[line] != times {
			return fmt.Errorf("%w: it has the line %.80q %d times, not %d times", errOutput, line, count[line], times)
		}
	}
	for line := range count {
		if times, ok := o.stable(line); ok && times == 0 && !o.shapes[shape(line)] {
			return fmt.Errorf("%w: no such job has the line %.80q", errOutput, line)
		}
	}
	return nil
}
