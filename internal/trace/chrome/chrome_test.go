package chrome

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

const header = `{"banyan":"trace","version":1,"driver":"real","procs":3,"unit":"ns","about":"<b> \"x\""}` + "\n"

// written is what a viewer reads.
type written struct {
	Events []struct {
		Name, Ph, Cat, Bp, S string
		Ts, Dur              float64
		Pid, Tid             int
		ID                   uint64
		Args                 map[string]any
	} `json:"traceEvents"`
	Other map[string]string `json:"otherData"`
}

func write(t *testing.T, text string) (w written) {
	t.Helper()
	var out strings.Builder
	if err := Write(&out, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out.String()), &w); err != nil {
		t.Fatalf("%v in\n%s", err, &out)
	}
	return w
}

// check looks whether each flow begins and ends within a slice of its process, and has both ends.
func check(t *testing.T, w written) (flows int) {
	t.Helper()
	ends := make(map[uint64]string)
	for _, e := range w.Events {
		if e.Ph != "s" && e.Ph != "f" {
			continue
		}
		if ends[e.ID] += e.Ph; e.Ph == "f" && e.Bp != "e" {
			t.Errorf("flow %d ends without a slice", e.ID)
		}
		found := false
		for _, s := range w.Events {
			found = found || s.Ph == "X" && s.Pid == e.Pid && s.Tid == e.Tid && s.Ts <= e.Ts && e.Ts <= s.Ts+s.Dur && s.Dur > 0
		}
		if !found {
			t.Errorf("no slice of process %d has flow %d at %v", e.Pid, e.ID, e.Ts)
		}
	}
	for id, both := range ends {
		if both != "sf" {
			t.Errorf("flow %d has %q", id, both)
		}
	}
	return len(ends)
}

// Messages are flows between slices; what has no other end has none; a death is told once.
func TestWrite(t *testing.T) {
	w := write(t, header+`{"t":1000,"proc":0,"event":"send","peer":1,"kind":"eager"}
{"t":1200,"proc":0,"event":"send","peer":2,"kind":"heartbeat"}
{"t":5001,"proc":1,"event":"receive","peer":0,"kind":"eager"}
{"t":6000,"proc":1,"event":"receive","peer":2,"kind":"eager"}
{"t":7000,"proc":1,"event":"dead"}
{"t":7001,"proc":1,"event":"dead"}
{"t":8000,"proc":2,"event":"coloured"}
{"t":9000,"proc":1,"event":"drop","peer":0,"kind":"tree"}
{"t":9000,"proc":1,"event":"what"}
`)
	if n := check(t, w); n != 1 || w.Other["about"] != `<b> "x"` {
		t.Errorf("%d flows, %v", n, w.Other)
	}
	var got []string
	for _, e := range w.Events {
		if e.Ph != "M" {
			got = append(got, fmt.Sprintf("%s %s %s %d %v+%v", e.Ph, e.Name, e.Cat, e.Pid, e.Ts, e.Dur))
		}
	}
	want := `X eager to 1 message 0 1+0.2
s eager message 0 1+0
f eager message 1 5.001+0
X eager from 0 message 1 5.001+0.999
i dead death 1 7+0
i coloured broadcast 2 8+0
X eager from 2 message 1 6+1
X heartbeat to 2 other 0 1.2+1
X lost tree from 0 dissemination 1 9+1`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if e := w.Events[0]; e.Ph != "M" || e.Args["name"] != "process 0" {
		t.Errorf("it begins with %+v", e)
	}
}

// Waits have a thread of their own, and the critical path is one more process.
func TestWaits(t *testing.T) {
	w := write(t, header+`{"t":0,"proc":0,"event":"wait"}
{"t":5000,"proc":1,"event":"send","peer":0,"kind":"eager"}
{"t":6000,"proc":0,"event":"receive","peer":1,"kind":"eager"}
{"t":7000,"proc":0,"event":"resume"}
{"t":9000,"proc":0,"event":"send","peer":1,"kind":"eager"}
{"t":9500,"proc":2,"event":"wait"}
`)
	check(t, w)
	var got []string
	for _, e := range w.Events {
		if e.Tid == waitThread || e.Pid == 3 {
			got = append(got, fmt.Sprintf("%s %s %v %d %v+%v", e.Ph, e.Name, e.Args["name"], e.Pid, e.Ts, e.Dur))
		}
	}
	want := `M thread_name waits 0 0+0
X waits <nil> 0 0+7
M process_name critical path 3 0+0
M process_sort_index <nil> 3 0+0
X eager 1 to 0 <nil> 3 5+2
X 0 computes <nil> 3 7+2`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// In a simulated trace a slice is as long as the overhead, and a receive ends at its time.
func TestSimulated(t *testing.T) {
	w := write(t, `{"banyan":"trace","version":1,"driver":"logp","procs":2,"unit":"step","about":"broadcast L=2 o=3"}
{"t":0,"proc":0,"event":"send","peer":1,"kind":"tree"}
{"t":8,"proc":1,"event":"receive","peer":0,"kind":"tree"}
`)
	check(t, w)
	for _, e := range w.Events {
		if e.Ph == "X" && (e.Dur != 3 || e.Pid == 1 && e.Ts != 5) {
			t.Errorf("%+v", e)
		}
	}
}

// Random traces make whole files, whose messages are all there.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var text strings.Builder
		out := trace.NewWriter(&text, trace.Header{Driver: "real", Procs: 4, Unit: "ns"})
		type message struct{ from, to int }
		var under []message
		ended := 0
		for at := proto.Time(0); at < 200; at += proto.Time(r.IntN(3)) {
			if m := (message{r.IntN(4), r.IntN(4)}); r.IntN(2) == 0 || len(under) == 0 {
				under = append(under, m)
				out.Write(trace.Event{Time: at, Proc: proto.Proc(m.from), Event: trace.Send, Peer: proto.Proc(m.to), Kind: "eager"})
				continue
			}
			i := r.IntN(len(under))
			m := under[i]
			under = append(under[:i], under[i+1:]...)
			ended++
			out.Write(trace.Event{Time: at, Proc: proto.Proc(m.to), Event: trace.Receive, Peer: proto.Proc(m.from), Kind: "eager"})
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
		if n := check(t, write(t, text.String())); n != ended {
			t.Errorf("%d flows of %d messages", n, ended)
		}
	}
}

// What isn't a trace is an error that names the line.
func TestBad(t *testing.T) {
	for _, text := range []string{
		"", "{}\n", header + "{", header + `{"t":1,"proc":3,"event":"send","peer":1,"kind":"x"}` + "\n", header + `{"t":-1,"proc":0,"event":"dead"}` + "\n",
		header + `{"t":1,"proc":0,"event":"send","kind":"x"}` + "\n", `{"banyan":"trace","version":1,"procs":0}` + "\n",
	} {
		if err := Write(new(strings.Builder), strings.NewReader(text)); err == nil {
			t.Errorf("%q is a trace", text)
		}
	}
}

func FuzzWrite(f *testing.F) {
	f.Add(header + `{"t":1,"proc":0,"event":"send","peer":1,"kind":"x"}` + "\n" + `{"t":0,"proc":1,"event":"receive","peer":0,"kind":"x"}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		var out strings.Builder
		if err := Write(&out, strings.NewReader(text)); err == nil && !json.Valid([]byte(out.String())) {
			t.Errorf("%q becomes %q", text, &out)
		}
	})
}
