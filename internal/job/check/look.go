package check

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"banyan/internal/job/env"
)

// A digest says that data differs, not where. Where data differs in one run, a later run looks
// closer: at one site its processes record the data itself, and the bytes that differ tell the
// padding of a struct, which holds whatever was in memory before, from data of the program's.

const (
	lookBytes  = 64 << 10 // of the data of a call; longer data isn't recorded
	lookCalls  = 64       // of a process
	spotsShown = 4        // ranges of bytes
)

// looking is what a recorder looks at.
type looking struct {
	at    Site // as recorded: Where is an address in a program that isn't in Go
	calls int  // so many were recorded
}

// entry is a site as an environment variable has it.
func (p Site) entry() string { return p.Op + "@" + p.Where }

// lookingFromEnv reads at what to look; nothing is the zero value.
func lookingFromEnv() (l looking) {
	l.at.Op, l.at.Where, _ = strings.Cut(os.Getenv(env.Look), "@")
	return l
}

// data is what to record of a call: the bytes of its parts, nil if it isn't looked at.
func (l *looking) data(e *Event, parts [][]byte) []byte {
	if l.at.Op == "" || l.at != (Site{e.Op, e.Where}) || e.Bytes > lookBytes || l.calls == lookCalls {
		return nil
	}
	l.calls++
	return slices.Concat(parts...)
}

// spots are the bytes in which the data of a call differs between two replicas.
type spots struct {
	length  int
	offsets []int // ascending
}

func spotsOf(a, b []byte) (s spots) {
	s.length = len(a)
	for i := range a {
		if a[i] != b[i] {
			s.offsets = append(s.offsets, i)
		}
	}
	return s
}

// look notes where the data of a call differs, if it was recorded at both replicas.
func (r *rank) look(e *Event, a, b []byte) {
	if a != nil && len(a) == len(b) && !bytes.Equal(a, b) {
		site := Site{e.Op, e.Where}
		r.spots[site] = append(r.spots[site], spotsOf(a, b))
	}
}

// describeSpots says which bytes of the calls of a site differ, and whether they are the padding of
// a struct of the program's.
func describeSpots(calls []spots, structs []layout) string {
	first := calls[0]
	for _, l := range structs {
		if l.excuses(calls) {
			return fmt.Sprintf("%s: all of it is padding of struct %s (%d bytes), which holds what was in memory before: no data of the program's", first, l.name, l.size)
		}
	}
	return first.String()
}

// String lists the bytes.
func (s spots) String() string {
	var ranges []string
	more := 0
	for i := 0; i < len(s.offsets); {
		j := i + 1
		for j < len(s.offsets) && s.offsets[j] == s.offsets[j-1]+1 {
			j++
		}
		switch first, last := s.offsets[i], s.offsets[j-1]; {
		case len(ranges) == spotsShown:
			more++
		case first == last:
			ranges = append(ranges, fmt.Sprint(first))
		default:
			ranges = append(ranges, fmt.Sprintf("%d-%d", first, last))
		}
		i = j
	}
	text := "of a call's " + inBytes(uint64(s.length)) + " (from 0) these differ: " + strings.Join(ranges, ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %d more ranges", more)
	}
	return text
}
