package trace

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
)

// part is what a process has written.
func part(t *testing.T, events ...Event) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, Header{Driver: "real", Procs: 3, Unit: "ns"})
	for _, e := range events {
		w.Write(e)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMerge(t *testing.T) {
	first := part(t, Event{5, 0, Send, 1, "tree"}, Event{9, 0, Send, 2, "tree"})
	second := part(t, Event{7, 1, Receive, 0, "tree"}, Event{7, 1, Coloured, proto.NoProc, ""})
	var out bytes.Buffer
	h := Header{Driver: "real", Procs: 3, Unit: "ns", About: "run hello"}
	n, err := Merge(&out, h, strings.NewReader(first), strings.NewReader(""),
		strings.NewReader(second+`{"t":12,"proc":1,"ev`), strings.NewReader(`{"ban`))
	if err != nil || n != 4 {
		t.Fatalf("%d events, %v", n, err)
	}
	var got []proto.Time
	var kinds []string
	header, err := Read(&out, func(e Event) error {
		got, kinds = append(got, e.Time), append(kinds, e.Event)
		return nil
	})
	if err != nil || header.About != "run hello" || header.Driver != "real" {
		t.Errorf("%+v, %v", header, err)
	}
	if !slices.Equal(got, []proto.Time{5, 7, 7, 9}) || !slices.Equal(kinds, []string{Send, Receive, Coloured, Send}) {
		t.Errorf("%v %v", got, kinds)
	}
	if _, err := Merge(io.Discard, h, strings.NewReader("not a trace\n")); err == nil || !strings.Contains(err.Error(), "part 0: line 1") {
		t.Error(err)
	}
}
