package trace

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// Merge makes one trace of the traces that several processes have written in a run. It puts their
// events in the order of their times, and returns how many there are. It leaves out an incomplete
// last line, which a killed process may have written.
func Merge(w io.Writer, h Header, parts ...io.Reader) (events int, err error) {
	var all []Event
	for i, part := range parts {
		text, err := io.ReadAll(part)
		if err != nil {
			return 0, err
		}
		text = text[:bytes.LastIndexByte(text, '\n')+1]
		if len(text) == 0 {
			continue
		}
		if _, err := Read(bytes.NewReader(text), func(e Event) error { all = append(all, e); return nil }); err != nil {
			return 0, fmt.Errorf("part %d: %w", i, err)
		}
	}
	slices.SortStableFunc(all, func(a, b Event) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	out := NewWriter(w, h)
	for _, e := range all {
		out.Write(e)
	}
	return len(all), out.Flush()
}
