package check

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// pair makes recorders for two replicas of one rank.
func pair(t *testing.T) (a, b *Recorder, j Job) {
	t.Helper()
	j = Job{Dir: t.TempDir(), Ranks: 1, Procs: func(int) []proto.Proc { return []proto.Proc{0, 1} }}
	var err error
	if a, err = NewRecorder(j.Dir, 0); err == nil {
		b, err = NewRecorder(j.Dir, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, b, j
}

func send(to, tag int, data string) *engine.Call {
	return &engine.Call{Op: "Send", Context: worldContext, Peer: to, Tag: int32(tag), Parts: [][]byte{[]byte(data)}}
}

func gather(parts ...string) *engine.Call {
	c := &engine.Call{Op: "Alltoallv", Collective: true, Context: worldContext, Peer: engine.NoPeer}
	for _, p := range parts {
		c.Parts = append(c.Parts, []byte(p))
	}
	return c
}

func compared(t *testing.T, j Job) *Summary {
	t.Helper()
	c := Compare(j)
	defer c.Close()
	if _, err := c.Advance(); err != nil {
		t.Fatal(err)
	}
	s, err := c.Summary()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A difference in each field of the control is found and named.
func TestControl(t *testing.T) {
	other := func(change func(c *engine.Call)) *engine.Call {
		c := send(1, 2, "data")
		change(c)
		return c
	}
	for want, c := range map[string]*engine.Call{
		"[destination]":     send(3, 2, "data"),
		"[tag]":             send(1, 3, "data"),
		"[length]":          send(1, 2, "more data"),
		"[communicator]":    other(func(c *engine.Call) { c.Context = 8 }),
		"[function]":        other(func(c *engine.Call) { c.Op = "Isend" }),
		"[function] ":       gather("block"), // a collective, which has other fields
		"[number of calls]": nil,
	} {
		a, b, j := pair(t)
		for _, r := range []*Recorder{a, b} {
			r.Calls(send(1, 2, "data"))
			r.Receives(&engine.Receipt{Context: 2, Source: 1})
		}
		a.Calls(send(1, 2, "data"))
		if c != nil {
			b.Calls(c)
		}
		a.End()
		b.End()
		s := compared(t, j)
		if len(s.Found) != 1 || fmt.Sprint(s.Found[0].Differs) != strings.TrimSpace(want) || s.Found[0].Number != 2 || s.Calls != 1 {
			t.Errorf("want a difference in the %s of call 2: %+v", want, s)
		}
	}
}

// Blocks of the same total length differ if their lengths differ.
func TestBlocks(t *testing.T) {
	a, b, j := pair(t)
	a.Calls(gather("ab", "c"))
	b.Calls(gather("a", "bc"))
	if s := compared(t, j); len(s.Found) != 1 || s.Found[0].Differs[0] != "lengths of the blocks" {
		t.Errorf("%+v", s)
	}
}

// Different data isn't a difference in control. It is counted.
func TestPayload(t *testing.T) {
	a, b, j := pair(t)
	for i := range 10 {
		a.Calls(send(1, 2, "same"))
		b.Calls(send(1, 2, "same"))
		a.Calls(send(1, 2, fmt.Sprint("some", i)))
		b.Calls(send(1, 2, fmt.Sprint("else", i)))
	}
	s := compared(t, j)
	if len(s.Found) != 0 || s.Payloads.Calls() != 10 || s.Payload.Number != 2 || s.Calls != 20 {
		t.Errorf("%+v", s)
	}
}

// Calls that differ in data only are counted by site, those with the most calls first.
func TestSites(t *testing.T) {
	a, b, j := pair(t)
	for i, n := range []int{2, 3, 1} {
		for range n {
			for r, data := range []string{"some", "else"} {
				c := send(1, 2, data)
				c.Op = fmt.Sprint("Send", i)
				[]*Recorder{a, b}[r].Calls(c)
			}
		}
	}
	s := compared(t, j)
	var got []string
	for _, p := range s.Payloads.Sorted() {
		got = append(got, fmt.Sprint(s.Payloads[p], " of ", p.Op))
	}
	if want := []string{"3 of Send1", "2 of Send0", "1 of Send2"}; !slices.Equal(got, want) || s.Payloads.Calls() != 6 {
		t.Errorf("%d calls: %q, not %q", s.Payloads.Calls(), got, want)
	}
}

// A record that ends before the program does is reported, because the rest wasn't compared.
func TestCut(t *testing.T) {
	a, b, j := pair(t)
	for _, r := range []*Recorder{a, b} {
		r.Calls(send(1, 2, "data"))
	}
	a.End()
	if s := compared(t, j); len(s.Cut) != 1 || s.Found != nil {
		t.Errorf("the record of a replica has no end, and that isn't reported: %+v", s)
	}
	b.End()
	if s := compared(t, j); s.Cut != nil {
		t.Errorf("the records are whole: %+v", s)
	}
}

// The last receive before the call that got another message is named.
func TestCause(t *testing.T) {
	a, b, j := pair(t)
	receives := func(sources ...int) { // 3: the second replica receives from 4
		for _, from := range sources {
			a.Receives(&engine.Receipt{Context: 2, Source: from, Tag: 7, AnySource: true})
			if from == 3 {
				from = 4
			}
			b.Receives(&engine.Receipt{Context: 2, Source: from, Tag: 7, AnySource: true})
		}
	}
	receives(1, 3, 2)
	a.Calls(send(1, 2, "x"))
	b.Calls(send(1, 2, "x"))
	receives(3, 5)
	a.Calls(send(3, 2, "x"))
	b.Calls(send(4, 2, "x"))
	receives(3)
	s := compared(t, j)
	if len(s.Found) != 1 {
		t.Fatalf("%+v", s)
	}
	d := s.Found[0]
	if d.Cause == nil || d.Cause.Number != 4 || d.Differed != 2 || d.Before != 5 {
		t.Errorf("receive 4 is the last of 2 in 5: %+v", d)
	}
	for _, want := range []string{"rank 0: its replicas 0 and 1 differ in call 2", "destination", "replica 0: Send to rank 3, tag 2, 1 byte",
		"receive 4 (any source)", "replica 1 got a message from rank 4, tag 7", "2 of the 5 receives"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("no %q in\n%s", want, d)
		}
	}
}

// A comparison that reads along finds the same, in whatever pieces the records come.
func TestReadingAlong(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b, j := pair(t)
		alike := rapid.IntRange(0, 30).Draw(rt, "alike")
		for i := range alike {
			for _, r := range []*Recorder{a, b} {
				r.Calls(send(i, i%3, "x"))
				for range i % 4 {
					r.Receives(&engine.Receipt{Context: 2, Source: i})
				}
			}
		}
		a.Calls(send(1, 1, ""))
		b.Calls(send(2, 1, ""))
		whole := [2][]byte{}
		for i := range whole {
			var err error
			if whole[i], err = os.ReadFile(FileOf(j.Dir, proto.Proc(i))); err != nil {
				rt.Fatal(err)
			}
			os.Remove(FileOf(j.Dir, proto.Proc(i)))
		}
		c := Compare(j)
		defer c.Close()
		for len(whole[0])+len(whole[1]) > 0 {
			i := rapid.IntRange(0, 1).Draw(rt, "replica")
			n := rapid.IntRange(0, min(100, len(whole[i]))).Draw(rt, "bytes")
			file, err := os.OpenFile(FileOf(j.Dir, proto.Proc(i)), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				rt.Fatal(err)
			}
			file.Write(whole[i][:n])
			file.Close()
			whole[i] = whole[i][n:]
			if _, err := c.Advance(); err != nil {
				rt.Fatal(err)
			}
			if c.Diverged() && len(whole[0]) > 0 && len(whole[1]) > 0 {
				rt.Fatal("a difference that hasn't come yet")
			}
		}
		s, err := c.Summary()
		if err != nil || len(s.Found) != 1 || s.Found[0].Number != alike+1 {
			rt.Fatalf("%+v, %v", s, err)
		}
	})
}

// MPI_COMM_WORLD isn't named.
func TestTextOfCommunicator(t *testing.T) {
	e := Event{Kind: Collective, Op: "MPI_Allreduce", Context: worldContext, Peer: engine.NoPeer, Bytes: 8, Where: "halo.c:40"}
	if got := e.String(); got != "MPI_Allreduce, 8 bytes, at halo.c:40" {
		t.Error(got)
	}
	e.Context = 0xa6ac6a00e3f501cc
	if got := e.String(); got != "MPI_Allreduce, 8 bytes, in a communicator other than MPI_COMM_WORLD (01cc), at halo.c:40" {
		t.Error(got)
	}
}

func TestNameInC(t *testing.T) {
	for name, want := range map[string]string{"Send": "MPI_Send", "SendrecvReplace": "MPI_Sendrecv_replace", "AllgatherInit": "MPI_Allgather_init"} {
		if got := nameInC(name); got != want {
			t.Errorf("%s is %s, not %s", name, want, got)
		}
	}
}

func TestNoSuchRecord(t *testing.T) {
	if s := compared(t, Job{Dir: filepath.Join(t.TempDir(), "none"), Ranks: 2, Procs: func(r int) []proto.Proc {
		return []proto.Proc{proto.Proc(r), proto.Proc(r + 2)}
	}}); s.Calls != 0 || s.Found != nil {
		t.Errorf("%+v", s)
	}
}

func FuzzDecode(f *testing.F) {
	var w stringTable
	b := w.appendEvent(nil, &Event{Kind: Send, Op: "Send", Where: "main.go:7", Peer: 3, Bytes: 9})
	f.Add(w.appendEvent(b, &Event{Kind: Receive, Op: "Recv", Where: "main.go:7", AnySource: true, Time: 5}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again, w stringTable
		var e, second Event
		n, err := r.decode(b, &e)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if n == 0 {
			return
		}
		// An event that can be read can be written, and reads the same again.
		b = w.appendEvent(nil, &e)
		if n, err := again.decode(b, &second); n != len(b) || err != nil || !reflect.DeepEqual(e, second) {
			t.Fatalf("%+v became %+v, %d of %d bytes, %v", e, second, n, len(b), err)
		}
	})
}
