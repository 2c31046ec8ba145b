package wire

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/lease"
)

var someStream = Stream{Proc: 1234, Incarnation: 1 << 31, Channel: Stderr}

func someFrames(t testing.TB) []*Frame {
	hello, err := Greeting{Version: Version, Build: "b", Instance: 1 << 63, Term: 3, Host: agent.Host{Name: "h", Cores: []int{0, 1}}}.Frame(Hello)
	if err != nil {
		t.Fatal(err)
	}
	return []*Frame{
		hello,
		{Kind: Resume, More: true, Entries: []Entry{{someStream, 1 << 40, 7, true}, {Stream{}, 0, 0, false}}},
		{Kind: Resume},
		{Kind: Data, Stream: someStream, Offset: 1 << 33, Data: []byte("some data"), End: true},
		{Kind: Data, Stream: Stream{Channel: PMI}},
		{Kind: Ack, Entry: Entry{someStream, 9, 8, true}},
		{Kind: Ask, Ask: lease.Request{At: 1 << 50, Has: 3}},
		{Kind: Grant, Grant: lease.Grant{At: 1 << 50, Length: 5e9}},
	}
}

// same compares frames; empty and nil slices are the same.
func same(a, b *Frame) bool {
	x, y := *a, *b
	if len(x.Data)+len(y.Data) == 0 {
		x.Data, y.Data = nil, nil
	}
	if len(x.Entries)+len(y.Entries) == 0 {
		x.Entries, y.Entries = nil, nil
	}
	return reflect.DeepEqual(x, y)
}

func TestFrames(t *testing.T) {
	var b []byte
	for _, f := range someFrames(t) {
		b = Append(b, f)
	}
	r := NewReader(bytes.NewReader(b))
	for _, want := range someFrames(t) {
		got, err := r.Read()
		if err != nil || !same(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := r.Read(); err != io.EOF {
		t.Error(err)
	}
	for n := range len(b) {
		r := NewReader(bytes.NewReader(b[:n]))
		for err := error(nil); err == nil; {
			if _, err = r.Read(); errors.Is(err, ErrCorrupt) {
				t.Errorf("cut after %d bytes: %v", n, err)
			}
		}
	}
}

// The largest frames that senders make are allowed.
func TestLargestFrames(t *testing.T) {
	resume := &Frame{Kind: Resume}
	for range MaxEntries {
		resume.Entries = append(resume.Entries, Entry{Stream{1<<31 - 1, 1<<32 - 1, Stderr}, 1 << 62, 1 << 62, true})
	}
	for _, f := range []*Frame{resume, {Kind: Data, Stream: someStream, Offset: 1 << 62, Data: make([]byte, MaxData)}} {
		if got, err := NewReader(bytes.NewReader(Append(nil, f))).Read(); err != nil || !same(got, f) {
			t.Error(err)
		}
	}
}

func TestCorruptFrames(t *testing.T) {
	for name, b := range map[string][]byte{
		"length 0":       {0, 0, 0, 0},
		"too long":       {0, 1, 0, 1, 1},
		"unknown kind":   {0, 0, 0, 1, 99},
		"short":          {0, 0, 0, 1, byte(Data)},
		"channel":        {0, 0, 0, 7, byte(Data), 9, 0, 0, 0, 0, 0},
		"flag":           {0, 0, 0, 7, byte(Data), 1, 0, 0, 0, 2, 0},
		"passed > come":  {0, 0, 0, 7, byte(Ack), 1, 0, 0, 1, 2, 0},
		"trailing bytes": {0, 0, 0, 4, byte(Grant), 1, 1, 1},
	} {
		if f, err := NewReader(bytes.NewReader(b)).Read(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	var all []byte
	for _, frame := range someFrames(f) {
		b := Append(nil, frame)
		f.Add(b)
		all = append(all, b...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		for {
			got, err := r.Read()
			if err != nil {
				return
			}
			if got.Kind <= Refusal {
				got.Greeting()
			}
			keep := *got
			keep.Data = bytes.Clone(got.Data)
			keep.Entries = append([]Entry(nil), got.Entries...)
			again, err := NewReader(bytes.NewReader(Append(nil, &keep))).Read()
			if err != nil || !same(again, &keep) {
				t.Errorf("%+v became %+v, %v", keep, again, err)
			}
		}
	})
}

func someMessages() []Message {
	return []Message{
		{Type: Start, Term: 3, Ask: 9, Start: Pack(someSpecs())},
		{Type: Signal, Term: 1 << 63, Proc: 4, Incarnation: 2, Signal: 9},
		{Type: Exited, Proc: 4, Status: 0x0900, At: 1 << 60},
		{Type: Failed, Text: "no such\nfile \xff", Errno: 2},
	}
}

func someSpecs() []agent.Spec {
	env := []string{"A=1", "B=\xff\xfe"}
	return []agent.Spec{
		{Proc: 0, Path: "/bin/\xffp", Argv: []string{"p", ""}, Env: append(env, "R=0"), Input: agent.AskedInput, Cores: []int{0}},
		{Proc: 7, Incarnation: 3, Path: "/bin/\xffp", Argv: []string{}, Dir: "/d", MakeDir: true, Env: append(env[:2:2], "R=7"), Replacement: true},
	}
}

func TestMessages(t *testing.T) {
	var b []byte
	for _, m := range someMessages() {
		var err error
		if b, err = AppendMessage(b, &m); err != nil {
			t.Fatal(err)
		}
	}
	r := bytes.NewReader(b)
	for _, want := range someMessages() {
		got, err := ReadMessage(r)
		if want.Type == Failed {
			want.Text = got.Text // texts are UTF-8
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := ReadMessage(r); err != io.EOF {
		t.Error(err)
	}
	for n := 1; n < len(b); n++ {
		for r := bytes.NewReader(b[:n]); ; {
			if _, err := ReadMessage(r); errors.Is(err, ErrCorrupt) {
				t.Errorf("cut after %d: %v", n, err)
			} else if err != nil {
				break
			}
		}
	}
}

func TestSpecs(t *testing.T) {
	p := Pack(someSpecs())
	got, err := p.Unpack()
	if err != nil || !reflect.DeepEqual(got, someSpecs()) {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(p.Strings); n != 8 { // the path, p, "", A, B, R=0, /d, R=7
		t.Errorf("%q", p.Strings)
	}
	p.Specs[1].Dir = len(p.Strings)
	if _, err := p.Unpack(); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func FuzzMessages(f *testing.F) {
	for _, m := range someMessages() {
		b, _ := AppendMessage(nil, &m)
		f.Add(b)
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, '{'})
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ReadMessage(bytes.NewReader(b))
		if err == nil && m.Start != nil {
			m.Start.Unpack()
		}
	})
}

func TestDisagreement(t *testing.T) {
	g := Greeting{Version: 1, Build: "a"}
	if text := g.Disagreement(1, "a", "agent 3"); text != "" {
		t.Error(text)
	}
	for _, text := range []string{g.Disagreement(2, "a", "agent 3"), g.Disagreement(1, "b", "agent 3")} {
		if text == "" || bytes.ContainsAny([]byte(text), "\n") {
			t.Errorf("%q", text)
		}
	}
}
