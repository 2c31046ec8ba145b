package engine

import (
	"slices"
	"testing"
	"time"
	"unsafe"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/inproc"
)

// sharing is a transport whose rings could be shared, if it had any.
type sharing struct{ transport.Transport }

func (sharing) Share(func(proto.Proc, unsafe.Pointer)) {}

// hears is a party that has to hear of each message.
type hears struct{ process.Recorder }

func (hears) Calls(*Call)       {}
func (hears) Receives(*Receipt) {}

// Only a job in which nothing has to hear of each message has a lane.
func TestMayHaveLane(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"":                  func(*Config) {},
		"replicas":          func(c *Config) { c.Process.Layout = layout.Uniform(2, 2) },
		"replacements":      func(c *Config) { c.Process.Heal = true },
		"a replacement":     func(c *Config) { c.Process.Replacement = true },
		"a trace":           func(c *Config) { c.Process.Recorder = hears{} },
		"verified data":     func(c *Config) { c.Process.Corrupted = func(process.Corruption) {} },
		"perturbed timing":  func(c *Config) { c.Process.Perturb = 1 },
		"a fault plan":      func(c *Config) { c.BeforeSend = func(_ uint64, data []byte) []byte { return data } },
		"a checked program": func(c *Config) { c.Calls = hears{} },
		"no memory":         func(c *Config) { c.Lane = nil },
	} {
		m, err := lane.New(0, 2)
		if err != nil {
			t.Fatal(err)
		}
		cfg := Config{Process: process.Config{Layout: layout.Uniform(2, 1)}, Lane: m}
		change(&cfg)
		e := &Engine{cfg: cfg, tr: sharing{}}
		e.openLane()
		if open := e.Lane() != nil; open != (name == "") {
			t.Errorf("with %q the lane is open: %v", name, open)
		}
		if closed := e.shared.Closed.Load() != 0; closed != (name != "") {
			t.Errorf("with %q C sees that it is closed: %v", name, closed)
		}
	}
}

// After the loss of a rank C goes on in communicators of ranks that live, also in new ones, and
// knows no other, and none that is revoked.
func TestLaneAfterLoss(t *testing.T) {
	m, err := lane.New(0, 4)
	if err != nil {
		t.Fatal(err)
	}
	end := inproc.NewNetwork(4).Endpoint(0)
	e := New(Config{Lane: m, Process: process.Config{Layout: layout.Uniform(4, 1), Period: 1e9, Timeout: 1e10}}, sharing{end})
	defer e.Close()
	open := func(handle uint64, group ...proto.Rank) {
		t.Helper()
		if err := e.OpenContext(handle<<8, group, false); err != nil {
			t.Fatal(err)
		}
		e.SetComm(handle, handle<<8, group)
	}
	knows := func(when string, want ...uint64) {
		t.Helper()
		for h := uint64(1); h < 10; h++ {
			if m.Knows(h) != slices.Contains(want, h) {
				t.Errorf("%s C knows communicator %d: %v", when, h, m.Knows(h))
			}
		}
	}
	open(1, 0, 1, 2, 3)
	open(2, 0, 1, 2)
	open(3, 2, 0)
	open(4, 0, 3)
	knows("at first", 1, 2, 3, 4)
	e.Evidence(3, 0)
	if m.Closed.Load()&^lane.Tick != 0 {
		t.Errorf("the loss of a rank closes the lane: %x", m.Closed.Load())
	}
	knows("after the loss of rank 3", 2, 3)
	open(5, 0, 1)
	open(6, 3, 0)
	knows("later", 2, 3, 5)
	if err := e.Revoke(2 << 8); err != nil {
		t.Fatal(err)
	}
	knows("after a revocation", 3, 5)
	e.SetComm(7, 2<<8, []proto.Rank{0, 1, 2}) // a revocation may come before the handle
	knows("after that", 3, 5)
}

// The progress thread has C leave the lane to Go, until Go has looked at the clock; eviction and
// the end close it for good. What C does counts.
func TestLaneCloses(t *testing.T) {
	m, err := lane.New(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	end := inproc.NewNetwork(2).Endpoint(0)
	e := New(Config{Lane: m, Process: process.Config{Layout: layout.Uniform(2, 1), Period: 1e9, Timeout: 1e10}}, sharing{end})
	defer e.Close()
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what, "never comes")
			}
		}
	}
	c := func(do func()) { // as C has the lock
		e.mu.Lock()
		do()
		e.mu.Unlock()
	}
	// A program that receives all the time: the progress thread mustn't take over, but has the
	// program enter Go.
	until("a tick", func() bool {
		c(func() { m.Polls++ })
		return m.Closed.Load() == lane.Tick
	})
	c(e.tick)
	until("an open lane", func() bool { return m.Closed.Load() == 0 })
	before := e.FramesSent()
	c(func() { m.Sent += 3 })
	if n := e.FramesSent(); n < before+3 {
		t.Errorf("%d frames sent, before %d", n, before)
	}
	c(func() { host{e}.Fenced(1) })
	if m.Closed.Load()&lane.Lost == 0 {
		t.Error("a process that is held for dead has an open lane")
	}
	e.Close()
	if m.Closed.Load()&lane.Ended == 0 {
		t.Error("the end leaves the lane open")
	}
}
