package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// element is an XML element of a picture, with the text in it.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

// outline parses a picture, which must be well-formed.
func outline(t *testing.T, r io.Reader) []element {
	t.Helper()
	var all []element
	var open []int
	in := xml.NewDecoder(r)
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := element{name: x.Name.Local, attrs: map[string]string{}}
			for _, a := range x.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			open = append(open, len(all))
			all = append(all, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				all[open[len(open)-1]].text += string(x)
			}
		}
	}
}

func draw(t *testing.T, text string) []element {
	t.Helper()
	var b bytes.Buffer
	if err := read(t, text).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return outline(t, &b)
}

// texts are the texts of all elements of a name.
func texts(all []element, name string) string {
	var b strings.Builder
	for _, e := range all {
		if e.name == name {
			fmt.Fprintln(&b, strings.TrimSpace(e.text))
		}
	}
	return b.String()
}

// count counts elements of a name and class.
func count(all []element, name, class string) (n int) {
	for _, e := range all {
		if e.name == name && e.attrs["class"] == class {
			n++
		}
	}
	return n
}

func TestDraw(t *testing.T) {
	all := draw(t, rescue)
	const want = `broadcast L=2 o=1 P=4
process 0: coloured at 0, by dissemination or being the root
process 1: never coloured, dead from 0
process 2: coloured at 9, by a correction
process 3: coloured at 5, by dissemination or being the root
tree, 0 → 1, sent at 0, dropped at 3 (dead)
tree, 0 → 3, sent at 1, received at 5
right, 0 → 2, sent at 5, received at 9
left, 3 → 2, sent at 5, received at 10
`
	if got := texts(all, "title"); got != want {
		t.Errorf("tooltips\n%s, want\n%s", got, want)
	}
	labels := texts(all, "text")
	for _, want := range []string{
		"dissemination (2): send, flight, receive\n", "correction (2): send, flight, receive\n", "waits to be received\n",
		"lost (1)\n", "coloured by dissemination (2)\n", "coloured by correction (1)\n", "dead (1)\n", "1 dead\n",
		"first correction: 5\n", "all coloured: 9\n", "end: 10\n", "time (steps)\n",
	} {
		if !strings.Contains(labels, want) {
			t.Errorf("no label %q in\n%s", want, labels)
		}
	}
	// Besides those in the legend there are a send and a flight for each message, a receive for
	// each message that wasn't lost, and a cross for the lost one.
	for class, want := range map[string]int{"s": 4 + 2, "r": 3 + 2} {
		if got := count(all, "rect", class); got != want {
			t.Errorf("%d bars of class %s, want %d", got, class, want)
		}
	}
	for class, want := range map[string]int{"f": 4 + 2, "w": 1, "x": 1, "mark": 3} {
		if got := count(all, "path", class); got != want {
			t.Errorf("%d lines of class %s, want %d", got, class, want)
		}
	}
}

// TestDrawPlaces checks that a bar is drawn at its time and in the row of its process.
func TestDrawPlaces(t *testing.T) {
	line := read(t, rescue)
	l := newLayout(line, 100)
	all := draw(t, rescue)
	for i, e := range all {
		if e.name == "title" && strings.HasPrefix(e.text, "tree, 0 → 3") {
			send := all[i+2] // after the flight
			x, err := strconv.ParseFloat(send.attrs["x"], 64)
			if err != nil || x-0.5 != l.x(1) {
				t.Errorf("the send that begins at 1 is at %v, want %v (%v)", x, l.x(1), err)
			}
			return
		}
	}
	t.Error("no such message")
}

// TestLabelsKeepApart checks that with any number of processes labels are at least a line apart,
// and every row is visible.
func TestLabelsKeepApart(t *testing.T) {
	for _, procs := range []int{1, 9, 20, 21, 64, 129, 300, 513, MaxProcs} {
		line := read(t, fmt.Sprintf(`{"banyan":"trace","version":1,"procs":%d}`, procs))
		l := newLayout(line, 0)
		if apart := float64(l.labelStep()) * l.row; apart < fontSize || l.row < 4 {
			t.Errorf("%d processes: labels %v apart, rows of %v", procs, apart, l.row)
		}
	}
}

func TestTicks(t *testing.T) {
	for span, want := range map[int64]string{1: "1 step", 7: "1 step", 30: "2 step", 1000: "50 step"} {
		line := read(t, header+fmt.Sprintf(`{"t":%d,"proc":0,"event":"dead"}`, span))
		if l := newLayout(line, 0); fmt.Sprint(l.tick, " ", l.unit.name) != want {
			t.Errorf("span %d: %d %s, want %s", span, l.tick, l.unit.name, want)
		}
	}
	line := read(t, realHeader+`{"t":7000,"proc":0,"event":"dead"}`+"\n"+`{"t":2507000,"proc":0,"event":"dead"}`)
	if l := newLayout(line, 0); l.unit.name != "ms" || l.show(1_257_000) != "1.25" {
		t.Errorf("1.25 ms are shown as %s %s", l.show(1_257_000), l.unit.name)
	}
}

// TestHostileText checks that no text from a trace can break out of its XML element.
func TestHostileText(t *testing.T) {
	all := draw(t, `{"banyan":"trace","version":1,"driver":"real","procs":1,"unit":"<x>","about":"</text><script>alert(1)</script>\u0001`+
		strings.Repeat("long ", 100)+`"}
{"t":1,"proc":0,"event":"send","peer":0,"kind":"\"><script>"}`)
	scripts := 0
	for _, e := range all {
		switch e.name {
		case "script":
			scripts++
		case "text":
			if len(e.text) > 150 {
				t.Errorf("a text of %d bytes", len(e.text))
			}
		}
	}
	if scripts != 1 {
		t.Errorf("%d scripts, want ours", scripts)
	}
}

func TestFigure5(t *testing.T) {
	text, err := os.ReadFile("testdata/figure5.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all := draw(t, string(text))
	if got := count(all, "g", "process"); got != 9 {
		t.Errorf("%d rows, want 9", got)
	}
	if got := texts(all, "text"); !strings.Contains(got, "all coloured: 7\n") || strings.Contains(got, "correction (") {
		t.Errorf("labels\n%s", got)
	}
	svg := all[0]
	if svg.name != "svg" || !strings.HasPrefix(svg.attrs["viewBox"], "0 0 ") {
		t.Errorf("begins with %+v", svg)
	}
	if script := texts(all, "script"); !strings.Contains(script, "wheel") {
		t.Error("no script to zoom")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	if err := read(t, rescue).WriteSVG(failing{}); err == nil {
		t.Error("the writer's error is lost")
	}
}
