package engine

import (
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

// The progress thread has C leave the lane to Go, until Go has looked at the clock; the loss of a
// rank and the end close it for good. What C does counts.
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
	c(func() { host{e}.RankLost(1) })
	if m.Closed.Load()&lane.Lost == 0 {
		t.Error("the loss of a rank leaves the lane open")
	}
	e.Close()
	if m.Closed.Load()&lane.Ended == 0 {
		t.Error("the end leaves the lane open")
	}
}
