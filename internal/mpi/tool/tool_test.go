package tool

import (
	"errors"
	"slices"
	"testing"
	"time"

	"banyan/internal/counters"
)

// fixture is an interface whose process has sent some messages.
type fixture struct {
	*Interface
	sent, posted uint64
	begun        bool
	text         string
}

func open(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{text: "first"}
	controls := []Control{
		{Named: Named{Name: "mode", Category: Transport}, Type: Int, Enum: &Enum{"mode", []string{"a", "b"}}, Read: func() Value { return Value{Int: 1} }},
		{Named: Named{Name: "text", Category: Messages}, Type: Text, Room: 8, Read: func() Value { return Value{Text: f.text} }, Write: func(v Value) error {
			f.text = v.Text
			return nil
		}},
	}
	f.Interface = New(controls, func() Sample { return Sample{Record: counters.Record{Sent: f.sent, Posted: f.posted}} }, func() bool { return f.begun })
	f.Begin()
	return f
}

func (f *fixture) index(name string) int {
	return slices.IndexFunc(f.Performance, func(v Performance) bool { return v.Name == name })
}

// A counter counts for a handle from its start to its stop; what another session does doesn't show.
func TestCounter(t *testing.T) {
	f := open(t)
	one, other := f.OpenSession(), f.OpenSession()
	a, err := f.Open(one, f.index("messages_sent"))
	if err != nil {
		t.Fatal(err)
	}
	b, _ := f.Open(other, f.index("messages_sent"))
	want := func(session, h uintptr, want uint64) {
		t.Helper()
		if got, err := f.Get(session, h, false); got != want || err != nil {
			t.Errorf("%d, %v; want %d", got, err, want)
		}
	}
	f.sent = 10
	want(one, a, 0)
	f.Start(one, a)
	f.sent = 13
	want(one, a, 3)
	f.Start(other, b)
	f.Start(one, a) // again: nothing changes
	f.Stop(one, AllHandles)
	f.sent = 20
	want(one, a, 3)
	want(other, b, 7)
	f.Start(one, a)
	f.sent = 21
	want(one, a, 4)
	if got, err := f.Get(one, a, true); got != 4 || err != nil {
		t.Errorf("read and reset: %d, %v", got, err)
	}
	want(one, a, 0)
	f.Put(one, a, 100)
	f.sent = 25
	want(one, a, 104)
	f.Reset(one, a)
	want(one, a, 0)
	want(other, b, 12)
	if _, err := f.Get(other, a, false); !errors.Is(err, ErrHandle) {
		t.Errorf("a handle of another session: %v", err)
	}
	if err := f.CloseSession(one); err != nil {
		t.Error(err)
	}
	if _, err := f.Get(one, a, false); !errors.Is(err, ErrSession) {
		t.Errorf("a closed session: %v", err)
	}
}

// A level is always as it is: it can't be started, stopped, written or reset. With all others it
// may be named.
func TestLevel(t *testing.T) {
	f := open(t)
	s := f.OpenSession()
	h, _ := f.Open(s, f.index("receives_posted"))
	f.posted = 5
	if got, err := f.Get(s, h, false); got != 5 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	_, resets := f.Get(s, h, true)
	for what, err := range map[string]error{"start": f.Start(s, h), "stop": f.Stop(s, h)} {
		if !errors.Is(err, ErrContinuous) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{"put": f.Put(s, h, 1), "reset": f.Reset(s, h), "read and reset": resets} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{"start": f.Start(s, AllHandles), "stop": f.Stop(s, AllHandles), "reset": f.Reset(s, AllHandles)} {
		if err != nil {
			t.Errorf("%s all: %v", what, err)
		}
	}
}

// A setting can be written before the job begins if it has somebody who writes.
func TestControl(t *testing.T) {
	f := open(t)
	h, c, err := f.OpenControl(1)
	if err != nil || c.Name != "text" {
		t.Fatal(c, err)
	}
	if err := f.Set(c, Value{Text: "second"}); err != nil || c.Read().Text != "second" {
		t.Error(c.Read(), err)
	}
	f.begun = true
	if err := f.Set(c, Value{Text: "third"}); !errors.Is(err, ErrNotNow) || f.text != "second" {
		t.Error(f.text, err)
	}
	if err := f.Set(&f.Controls[0], Value{}); !errors.Is(err, ErrNever) {
		t.Error(err)
	}
	if _, _, err := f.OpenControl(2); !errors.Is(err, ErrIndex) {
		t.Error(err)
	}
	if err := f.CloseControl(h); err != nil {
		t.Error(err)
	}
	if _, err := f.Control(h); !errors.Is(err, ErrHandle) {
		t.Error(err)
	}
}

// Every variable and event is in one category, and those of the packages' lists have names of their
// own and a description.
func TestCategories(t *testing.T) {
	f := open(t)
	controls, performance, events := 0, 0, 0
	for _, c := range f.Categories {
		controls, performance, events = controls+len(c.Controls), performance+len(c.Performance), events+len(c.Events)
	}
	if controls != len(f.Controls) || performance != len(f.Performance) || events != len(f.Events) {
		t.Errorf("the categories have %d, %d, %d of %d, %d, %d", controls, performance, events, len(f.Controls), len(f.Performance), len(f.Events))
	}
	seen := map[string]bool{}
	for _, v := range f.Performance {
		if seen[v.Name] || v.Description == "" || v.Name == "" {
			t.Errorf("%q: twice, or without a description", v.Name)
		}
		seen[v.Name] = true
	}
}

// Events come in order, while their instance can be read. A registration without a callback that
// may be called hears of dropped ones. Nothing comes after it was freed, but the last word.
func TestEvents(t *testing.T) {
	f := open(t)
	type heard struct{ values []int32 }
	got, dropped, freed := make(chan heard, 10), make(chan int64, 10), make(chan bool, 1)
	r, err := f.Register(RankLost)
	if err != nil {
		t.Fatal(err)
	}
	f.Dropped(r, func(n int64, _ uintptr) { dropped <- n })
	f.Call(r, RequireNone, func(_, _ uintptr) { t.Error("a callback that isn't safe is called") })
	f.Happened(RankLost, 1)
	if n := await(t, dropped); n != 1 {
		t.Errorf("%d dropped", n)
	}
	var last uintptr
	f.Call(r, RequireThreadSafe, func(instance, registration uintptr) {
		e, err := f.Instance(instance)
		if err != nil || registration != r {
			t.Error(err, registration)
			return
		}
		last = instance
		got <- heard{e.Values}
	})
	f.Happened(ProcessDied, 7, 0, 1) // another type
	for i := range int32(5) {
		f.Happened(RankLost, i)
	}
	for i := range int32(5) {
		if h := await(t, got); len(h.values) != 1 || h.values[0] != i {
			t.Errorf("event %d has %v", i, h.values)
		}
	}
	f.Unregister(r, func() { freed <- true })
	await(t, freed)
	if _, err := f.Instance(last); !errors.Is(err, ErrHandle) {
		t.Errorf("an instance after its callback: %v", err)
	}
	f.Happened(RankLost, 9)
	if err := f.Registered(r); !errors.Is(err, ErrHandle) {
		t.Error(err)
	}
}

// A callback that takes its time loses events, hears how many, and holds nobody up.
func TestSlowCallback(t *testing.T) {
	f := open(t)
	r, _ := f.Register(RankLost)
	in, out := make(chan bool, 2*maxWaiting), make(chan bool)
	lost := make(chan int64, 10)
	f.Dropped(r, func(n int64, _ uintptr) { lost <- n })
	f.Call(r, RequireSignalSafe, func(_, _ uintptr) {
		in <- true
		<-out
	})
	f.Happened(RankLost, 0)
	await(t, in)
	for range maxWaiting + 10 {
		f.Happened(RankLost, 1)
	}
	close(out)
	if n := await(t, lost); n != 10 {
		t.Errorf("%d lost, want 10", n)
	}
}

// The last End frees all; before a Begin there is nothing to end.
func TestEnd(t *testing.T) {
	f := open(t)
	f.Begin()
	s := f.OpenSession()
	if err := f.End(); err != nil || !f.Active() {
		t.Error(err)
	}
	if err := f.End(); err != nil || f.Active() {
		t.Error(err)
	}
	if err := f.CloseSession(s); !errors.Is(err, ErrSession) {
		t.Errorf("a session after the end: %v", err)
	}
	if err := f.End(); !errors.Is(err, ErrUninitialised) {
		t.Error(err)
	}
}

func await[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing comes")
	}
	return v
}
