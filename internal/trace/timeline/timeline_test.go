package timeline

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// header is the header of a simulated trace of four processes, L = 2, o = 1.
const header = `{"banyan":"trace","version":1,"driver":"logp","procs":4,"unit":"step","about":"broadcast L=2 o=1"}` + "\n"

// realHeader is the header of a real trace of four processes.
const realHeader = `{"banyan":"trace","version":1,"driver":"real","procs":4,"unit":"ns"}` + "\n"

// rescue is a run in which process 1 is dead. Process 0 reaches process 2 by a correction, which
// waits while process 2 receives another message.
const rescue = header +
	`{"t":0,"proc":1,"event":"dead"}
{"t":0,"proc":0,"event":"coloured"}
{"t":0,"proc":0,"event":"send","peer":1,"kind":"tree"}
{"t":1,"proc":0,"event":"send","peer":3,"kind":"tree"}
{"t":3,"proc":1,"event":"drop","peer":0,"kind":"tree"}
{"t":5,"proc":3,"event":"receive","peer":0,"kind":"tree"}
{"t":5,"proc":3,"event":"coloured"}
{"t":5,"proc":0,"event":"send","peer":2,"kind":"right"}
{"t":5,"proc":3,"event":"send","peer":2,"kind":"left"}
{"t":9,"proc":2,"event":"receive","peer":0,"kind":"right"}
{"t":9,"proc":2,"event":"coloured"}
{"t":10,"proc":2,"event":"receive","peer":3,"kind":"left"}
`

func read(t *testing.T, text string) *Timeline {
	t.Helper()
	line, err := Read(strings.NewReader(text), Part{})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func TestRead(t *testing.T) {
	line := read(t, rescue)
	got := fmt.Sprint(line.Overhead, line.Latency, line.Begin, line.End, line.Coloured[2], line.Coloured[1] == proto.Never, line.Dead[1])
	if want := "1 2 0 10 9 true 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var parts []string
	for i := range line.Messages {
		m := &line.Messages[i]
		s := line.shape(m)
		parts = append(parts, fmt.Sprintf("%s %d-%d %d/%d>%d/%d", m.Kind, int(m.From), int(m.To), m.Sent, s.sendEnd, s.arrival, m.Ended))
	}
	want := "tree 0-1 0/1>3/3; tree 0-3 1/2>4/5; right 0-2 5/6>8/9; left 3-2 5/6>8/10"
	if got := strings.Join(parts, "; "); got != want {
		t.Errorf("messages\n%s, want\n%s", got, want)
	}
	if by := line.colouredBy(); by[0] != trace.Dissemination || by[2] != trace.Correction || by[3] != trace.Dissemination {
		t.Errorf("coloured by %v", by)
	}
}

// TestReadFigure5 checks when each process of the paper's figure 5 is coloured.
func TestReadFigure5(t *testing.T) {
	text, err := os.ReadFile("testdata/figure5.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(read(t, string(text)).Coloured), "[0 3 4 5 6 6 7 7 7]"; got != want {
		t.Errorf("coloured at %s, want %s", got, want)
	}
}

// TestReadReal reads a real trace that begins late, ends early and has times that run backwards.
func TestReadReal(t *testing.T) {
	line := read(t, realHeader+
		`{"t":5000,"proc":1,"event":"receive","peer":0,"kind":"tree"}
{"t":4000,"proc":1,"event":"send","peer":2,"kind":"tree"}
{"t":4500,"proc":1,"event":"something new","peer":77}
`)
	if len(line.Messages) != 2 || line.Messages[0].Sent != proto.Never || line.Messages[1].Ended != proto.Never {
		t.Errorf("messages %+v", line.Messages)
	}
	if line.Begin != 4000 || line.End != 5000 {
		t.Errorf("from %d to %d", line.Begin, line.End)
	}
}

func TestReadErrors(t *testing.T) {
	const send = `{"t":0,"proc":0,"event":"send","peer":1,"kind":"tree"}` + "\n"
	for text, want := range map[string]string{
		"":                               "empty: not a trace",
		"P,L,o\n":                        "line 1: not the header",
		`{"banyan":"trace","version":2}`: "line 1: a trace of version 2",
		`{"banyan":"trace","version":1}`: "line 1: 0 processes",
		`{"banyan":"trace","version":1,"procs":65536}`: "line 1: 65536 processes: can draw 1 to 4096",
		header + send:                                                       "line 2, the last: the message from 0 to 1 in line 2 has no end: the trace is cut short",
		header + send + `{"t":4,"pro`:                                       "line 3: cut short",
		header + `{"t":-1,"proc":0,"event":"coloured"}`:                     "line 2: t: -1",
		header + `{"t":1,"proc":4,"event":"coloured"}`:                      "line 2: proc: 4: want 0 to 3",
		header + `{"t":1,"proc":0,"event":"send"}`:                          "line 2: peer: -1",
		header + `{"t":1,"proc":0,"event":"receive","peer":2,"kind":"ack"}`: "line 2: process 0 has a message (ack) from 2 that 2 hasn't sent",
		header + `{"t":2,"proc":0,"event":"dead"}` + "\n" + send:            "line 3: t: 0 comes after 2",
		realHeader + strings.Repeat(send, MaxMessages+1):                    "line 50002: more than 50000 messages",
	} {
		if _, err := Read(strings.NewReader(text), Part{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.120q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestDeathLeavesNoEnd checks that a message from or to a dead process may have no end.
func TestDeathLeavesNoEnd(t *testing.T) {
	line := read(t, header+`{"t":0,"proc":0,"event":"send","peer":1,"kind":"tree"}
{"t":2,"proc":1,"event":"dead"}
`)
	if s := line.shape(&line.Messages[0]); s.arrival != 3 {
		t.Errorf("arrives at %d, want 3", s.arrival)
	}
}

// FuzzDraw checks that every input that Read accepts can be drawn, as well-formed XML.
func FuzzDraw(f *testing.F) {
	f.Add([]byte(rescue))
	f.Add([]byte(realHeader + `{"t":1,"proc":1,"event":"receive","peer":0,"kind":"<tree>\u0000"}`))
	f.Add([]byte(`{"banyan":"trace","version":1,"procs":1,"about":"L=1099511627776 o=1099511627776"}` + "\n" +
		`{"t":4611686018427387904,"proc":0,"event":"send","peer":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		line, err := Read(bytes.NewReader(data), Part{})
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := line.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		outline(t, &b)
	})
}
