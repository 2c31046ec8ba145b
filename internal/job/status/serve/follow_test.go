package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/status"
	"banyan/internal/proto"
)

// following has a hub told by another one, until stop is called.
func following(t *testing.T, h *Hub) (other *Hub, stop func()) {
	t.Helper()
	other = NewHub("")
	from, to := io.Pipe()
	fed, heard := make(chan error, 1), make(chan error, 1)
	go func() {
		err := h.Feed(to)
		to.Close()
		fed <- err
	}()
	go func() { heard <- other.Follow(from) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		from.Close()
		to.Close()
		for _, c := range []chan error{fed, heard} {
			select {
			case <-c:
			case <-time.After(5 * time.Second):
				t.Error("it doesn't end")
			}
		}
	}
	t.Cleanup(stop)
	return other, stop
}

// until waits for something.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}

func stateOf(t *testing.T, h *Hub) (s status.State) {
	t.Helper()
	if text := h.State(); text != nil {
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Another host's hub shows the same to its own readers, from before the job's begin to its end.
func TestFollow(t *testing.T) {
	h := NewHub("x")
	other, _ := following(t, h)
	s := listen(t, other, "127.0.0.1:0", NoToken)
	code, _, _ := get(t, http.DefaultClient, s.Address()+"api/state")
	if code != http.StatusServiceUnavailable {
		t.Errorf("before the job: %d", code)
	}
	h.Begin(status.Job{Ranks: 2, Replicas: 1})
	o := &status.Observation{Hosts: []status.Host{{Name: "a", State: status.HostRuns}}, Slots: []status.Slot{{Rank: 0, State: status.Live}, {Rank: 1, State: status.Live}}}
	h.Observe(o)
	until(t, "the other hub knows", func() bool { return other.State() != nil })
	r, err := http.Get(s.Address() + "api/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	h.AddAddress(status.Place{Host: "b", URL: s.Address()})
	h.Sample(1e9, []status.Sample{{Process: 0, Stamp: 1, Counters: status.Counters{Sent: 7, WaitsFor: status.NoRank}}})
	die(h, o, 2e9, 1, nil)
	die(h, o, 3e9, 0, &status.Over{Outcome: "failed", ExitCode: 1})
	text, err := io.ReadAll(r.Body) // until the job's end
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"event: state\n", "event: news\n", "event: sample\n", `"sent":7`, `"exit_code":1`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the stream lacks %q:\n%s", want, text)
		}
	}
	got, want := stateOf(t, other), stateOf(t, h)
	if got.Over == nil || got.Slots[0].State != status.Dead || len(got.Events) != len(want.Events) || len(got.Addresses) != 1 || got.Slots[0].Counters.Sent != 7 {
		t.Errorf("the other hub has %+v", got)
	}
}

// Without its launcher a host shows what was, as old; and what the next launcher shows, which has
// it from there.
func TestOld(t *testing.T) {
	h, o := observed("x")
	die(h, o, 1e9, 1, nil)
	other, stop := following(t, h)
	until(t, "it follows", func() bool { return len(stateOf(t, other).Events) == 2 })
	other.Look(time.Now())
	if stateOf(t, other).Old {
		t.Error("it is old at once")
	}
	stop()
	other.Look(time.Now().Add(oldAfter + time.Second))
	if !stateOf(t, other).Old {
		t.Fatal("it isn't old")
	}

	next := NewHub("x")
	if err := next.Continue(other.State()); err != nil {
		t.Fatal(err)
	}
	next.Begin(status.Job{Ranks: 2, Replicas: 1})
	if next.State() == nil {
		t.Error("the next launcher's hub has forgotten all")
	}
	takeover := *o
	takeover.At = 9e9
	takeover.News = append(takeover.News, status.Event{At: 9, Kind: status.KindLauncher, Text: "another launcher"})
	next.Observe(&takeover)
	from, to := io.Pipe()
	go func() { next.Feed(to) }()
	go func() { other.Follow(from) }()
	t.Cleanup(func() { from.Close() })
	until(t, "the host shows what the next launcher says", func() bool {
		s := stateOf(t, other)
		return !s.Old && len(s.Events) == 3 && s.Events[2].Kind == status.KindLauncher && s.Events[1].Kind == status.KindDeath
	})
}

// A launcher that was only silent is believed again.
func TestSilentLauncher(t *testing.T) {
	h, _ := observed("x")
	other, _ := following(t, h)
	until(t, "it follows", func() bool { return other.State() != nil })
	other.Look(time.Now().Add(time.Hour))
	until(t, "its next word makes all new", func() bool { return !stateOf(t, other).Old })
}

// Many other hosts get counters less often, and then all of them; browsers get what has changed.
func TestSparse(t *testing.T) {
	h := NewHub("x")
	h.Begin(status.Job{Ranks: 1 << 13, Replicas: 1})
	o := &status.Observation{Hosts: []status.Host{{Name: "a"}}}
	for r := range 1 << 13 {
		o.Slots = append(o.Slots, status.Slot{Rank: r, State: status.Live})
	}
	h.Observe(o)
	browser := h.subscribe(false)
	var hosts []*reader
	for range 6 { // each third time
		hosts = append(hosts, h.subscribe(true))
	}
	for i := range 3 {
		h.Sample(proto.Time(i+1)*1e9, []status.Sample{{Process: i, Stamp: 1, Counters: status.Counters{Sent: 1}}})
	}
	for name, want := range map[string][]int{"browser": {1, 1, 1}, "host": {0, 0, 3}} {
		from := browser
		if name == "host" {
			from = hosts[5]
		}
		for i, n := range want {
			for {
				kind, text, err := readFrame(bufio.NewReader(bytes.NewReader(<-from.messages)))
				if err != nil {
					t.Fatal(err)
				}
				if kind != "sample" {
					continue
				}
				var x status.Update
				if err := json.Unmarshal(text, &x); err != nil || len(x.Counters) != n {
					t.Errorf("sample %d of a %s has %d counters, want %d (%v)", i, name, len(x.Counters), n, err)
				}
				break
			}
		}
	}
	if interval(64, 8) != 1 || interval(4096, 64) != 16 {
		t.Errorf("intervals %d and %d", interval(64, 8), interval(4096, 64))
	}
}

// What isn't a hub's words ends it with an error, without a panic.
func FuzzFollow(f *testing.F) {
	h, o := observed("x")
	die(h, o, 1e9, 1, nil)
	f.Add(string(frame("state", h.State())) + "event: alive\ndata: {}\n\n")
	f.Add("event: news\ndata: {\"events\":[{\"number\":7,\"set\":[{\"process\":-1}]}]}\n\n")
	f.Add(string(frame("state", h.State())) + "event: sample\ndata: {\"counters\":{\"5\":null}}\n\nevent: news\ndata: {}\n\n")
	f.Add("event: state\ndata: null\n\n")
	f.Add("event: state\nevent: state\n")
	f.Fuzz(func(t *testing.T, text string) {
		other := NewHub("")
		err := other.Follow(strings.NewReader(text))
		other.Look(time.Now().Add(time.Hour))
		other.State()
		other.Totals()
		if err == nil && text != "" && !strings.HasSuffix(text, "\n\n") {
			t.Errorf("%q is taken", text)
		}
		other.Close()
	})
}

// A message that is cut off is an error.
func TestCutOff(t *testing.T) {
	for _, text := range []string{"event: state", "event: state\n", "event: state\ndata: {}\n", "event: state\ndata: {}\nx\n"} {
		if err := NewHub("").Follow(strings.NewReader(text)); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errFrame) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
