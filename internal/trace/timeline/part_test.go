package timeline

import (
	"strings"
	"testing"
)

// long is the trace of a real run, of which the tests read parts.
const long = `{"banyan":"trace","version":1,"driver":"real","procs":3,"unit":"ns"}
{"t":1000,"proc":0,"event":"send","peer":1,"kind":"tree"}
{"t":1100,"proc":0,"event":"coloured"}
{"t":1500,"proc":2,"event":"dead"}
{"t":2000,"proc":1,"event":"receive","peer":0,"kind":"tree"}
{"t":2500,"proc":1,"event":"send","peer":0,"kind":"heartbeat"}
{"t":3000,"proc":0,"event":"receive","peer":1,"kind":"heartbeat"}
{"t":4000,"proc":0,"event":"send","peer":1,"kind":"tree"}
`

func TestReadPart(t *testing.T) {
	for _, c := range []struct {
		part     Part
		messages int
		begin    int64
	}{
		{Part{}, 3, 1000},
		{Part{From: 1000}, 3, 2000}, // a receive without its send
		{Part{To: 1500}, 2, 1000},
		{Part{Kinds: []string{"tree"}}, 2, 1000},
		{Part{From: 1200, To: 2200, Kinds: []string{"heartbeat"}}, 1, 2200},
	} {
		line, err := Read(strings.NewReader(long), c.part)
		if err != nil {
			t.Errorf("%+v: %v", c.part, err)
			continue
		}
		if len(line.Messages) != c.messages || int64(line.Begin) != c.begin {
			t.Errorf("%+v: %d messages, from %d", c.part, len(line.Messages), line.Begin)
		}
		if line.Coloured[0] != max(1100, line.Begin) || c.part.From >= 500 && line.Dead[2] != line.Begin {
			t.Errorf("%+v: coloured at %d, dead at %d", c.part, line.Coloured[0], line.Dead[2])
		}
	}
	if _, err := Read(strings.NewReader(long), Part{From: 9000}); err == nil || !strings.Contains(err.Error(), "no messages") {
		t.Error(err)
	}
}

// TestReadPartOfSimulated: a part may begin between a send and its receive.
func TestReadPartOfSimulated(t *testing.T) {
	const text = `{"banyan":"trace","version":1,"driver":"logp","procs":2,"unit":"step"}
{"t":0,"proc":0,"event":"send","peer":1,"kind":"tree"}
{"t":4,"proc":1,"event":"receive","peer":0,"kind":"tree"}
`
	for _, part := range []Part{{From: 2}, {To: 2}} {
		if line, err := Read(strings.NewReader(text), part); err != nil || len(line.Messages) != 1 {
			t.Errorf("%+v: %v", part, err)
		}
	}
}
