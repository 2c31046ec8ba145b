package launcher

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/status"
	"banyan/internal/proto"
	"banyan/internal/trace"
)

// asking is a Watcher of which somebody wants something, once all processes live.
type asking struct {
	mu     sync.Mutex
	do     status.Operator
	ask    func(do status.Operator)
	asked  chan struct{}
	events []status.Event

	procs   int
	counted chan struct{} // if set: closed once procs processes have counted
}

func (a *asking) Begin(status.Job)               {}
func (a *asking) Agent(int, string, agent.Agent) {}
func (a *asking) Operator(do status.Operator)    { a.do = do }
func (a *asking) Sample(_ proto.Time, all []status.Sample) {
	if a.counted != nil && len(all) == a.procs {
		close(a.counted)
		a.counted = nil
	}
}
func (a *asking) Observe(o *status.Observation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, o.News...)
	live := true
	for _, s := range o.Slots {
		live = live && s.State == status.Live
	}
	if live && a.ask != nil {
		ask := a.ask
		a.ask = nil
		go func() {
			defer close(a.asked)
			ask(a.do) // it waits for the loop, which is here
		}()
	}
}

// Somebody who watches has a replica killed: it dies and is replaced, and events say who wanted it.
// What would lose a rank or makes no sense is refused, and the job goes on.
func TestOperate(t *testing.T) {
	t.Parallel()
	refused := map[string]status.Request{
		"no process 9":                {Action: status.Kill, Process: 9},
		"no process -1":               {Action: status.Kill, Process: -1},
		"no host 3":                   {Action: status.Drain, Host: 3},
		"can't be drained":            {Action: status.Drain},
		"no process stays dead":       {Action: status.Heal},
		"is nothing that can be done": {Action: "dance"},
	}
	w := &asking{asked: make(chan struct{})}
	w.ask = func(do status.Operator) {
		for why, q := range refused {
			if said, err := do(q); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%+v: %q, %v, want %q", q, said, err, why)
			}
		}
		if said, err := do(status.Request{Action: status.Kill, Process: 1}); err != nil || !strings.Contains(said, "rank 1 replica 0") {
			t.Errorf("kill: %q %v", said, err)
		}
	}
	o := run(t, Config{Ranks: 2, Replicas: 2, Heal: true, Watch: w}, "heal", "drained", t.TempDir())
	select {
	case <-w.asked:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody has asked")
	}
	if o.report.ExitCode != 0 || len(o.report.Deaths) != 1 || o.report.Deaths[0].Process != 1 {
		t.Errorf("the report says %+v", o.report)
	}
	requests := 0
	for _, e := range w.events {
		if e.Kind == status.KindRequest {
			requests++
		}
	}
	if requests != 1 {
		t.Errorf("%d requests are told", requests)
	}
}

// Somebody who watches has a trace taken: it has the frames of about a second by all processes, in
// a file, and the job goes on. A second one meanwhile is refused. It is the same with processes of
// other hosts.
func TestOperateTraces(t *testing.T) {
	t.Parallel()
	t.Run("here", func(t *testing.T) { operateTraces(t, Config{}) })
	t.Run("elsewhere", func(t *testing.T) {
		agents, _ := distant(t, 2)
		operateTraces(t, Config{Agents: agents, Places: []int{0, 0, 1, 1}})
	})
}

func operateTraces(t *testing.T, c Config) {
	dir := t.TempDir()
	counted := make(chan struct{})
	w := &asking{asked: make(chan struct{}), procs: 4, counted: counted}
	w.ask = func(do status.Operator) {
		// A process that lives may not have come to the library, and then records nothing.
		select {
		case <-counted:
		case <-time.After(20 * time.Second):
			t.Error("the processes count nothing")
		}
		if said, err := do(status.Request{Action: status.Trace}); err != nil || !strings.Contains(said, "a trace of one second") {
			t.Errorf("trace: %q %v", said, err)
		}
		if _, err := do(status.Request{Action: status.Trace}); err == nil || !strings.Contains(err.Error(), "being taken already") {
			t.Errorf("again: %v", err)
		}
	}
	c.Ranks, c.Replicas, c.Watch, c.Counted, c.TraceDir = 2, 2, w, true, dir
	run(t, c, "rounds", "800", "5ms") // 4 s: a second until all have counted, and the span after that
	<-w.asked
	var told *status.Event
	for i, e := range w.events {
		if e.Kind == status.KindTrace {
			told = &w.events[i]
		}
	}
	if told == nil || told.File == "" || filepath.Dir(told.File) != dir {
		t.Fatalf("what is told is %+v", told)
	}
	text, err := os.ReadFile(told.File)
	if err != nil {
		t.Fatal(err)
	}
	var first, last proto.Time
	sent, received, waited := make(map[proto.Proc]int), make(map[proto.Proc]int), make(map[proto.Proc]int)
	h, err := trace.Read(bytes.NewReader(text), func(e trace.Event) error {
		if first == 0 {
			first = e.Time
		}
		last = e.Time
		switch e.Event {
		case trace.Send:
			sent[e.Proc]++
		case trace.Receive:
			received[e.Proc]++
		case trace.Wait:
			waited[e.Proc]++
		}
		return nil
	})
	if err != nil || h.Procs != 4 || !strings.Contains(h.About, "ranks=2 replicas=2") {
		t.Fatalf("%+v, %v", h, err)
	}
	for p := range proto.Proc(4) {
		if sent[p] == 0 || received[p] == 0 || waited[p] == 0 {
			t.Errorf("process %d: %d sent, %d received, %d waits", p, sent[p], received[p], waited[p])
		}
	}
	if span := last - first; span < 2e8 || span > proto.Time(spanLength) {
		t.Errorf("it is %v long", time.Duration(span))
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}

// A job that is traced anyway, one that doesn't count, and one whose directory is gone take no
// trace.
func TestOperateTracesNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for why, c := range map[string]Config{
		"all is recorded anyway":    {Trace: filepath.Join(dir, "all.jsonl"), Counted: true},
		"start the job with":        {},
		"no such file or directory": {Counted: true, TraceDir: filepath.Join(dir, "gone")},
	} {
		w := &asking{asked: make(chan struct{})}
		w.ask = func(do status.Operator) {
			if _, err := do(status.Request{Action: status.Trace}); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%v, want %s", err, why)
			}
		}
		c.Ranks, c.Watch = 2, w
		run(t, c, "rounds", "100", "5ms")
		<-w.asked
	}
}

// The last replica of a rank isn't killed, and a job without --heal heals nothing.
func TestOperateRefuses(t *testing.T) {
	t.Parallel()
	w := &asking{asked: make(chan struct{})}
	w.ask = func(do status.Operator) {
		if _, err := do(status.Request{Action: status.Kill, Process: 1}); err == nil || !strings.Contains(err.Error(), "the last of its rank") {
			t.Errorf("kill: %v", err)
		}
		if _, err := do(status.Request{Action: status.Heal}); err == nil || !strings.Contains(err.Error(), "--heal") {
			t.Errorf("heal: %v", err)
		}
	}
	run(t, Config{Ranks: 2, Watch: w}, "rounds", "100", "5ms")
	select {
	case <-w.asked:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody has asked")
	}
}
