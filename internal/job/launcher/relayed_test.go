package launcher

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/console"
)

// wall is a screen that outlives launchers: it has what each rank has written.
type wall struct {
	mu    sync.Mutex
	dark  atomic.Bool                 // nobody looks: nothing is shown
	shown map[[2]int]*strings.Builder // by rank and stream
	notes strings.Builder
}

func newWall() *wall { return &wall{shown: make(map[[2]int]*strings.Builder)} }

func (w *wall) stream(rank int, stderr bool) *strings.Builder {
	k := [2]int{rank, index(stderr)}
	if w.shown[k] == nil {
		w.shown[k] = &strings.Builder{}
	}
	return w.shown[k]
}

func (w *wall) length(rank int, stderr bool) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int64(w.stream(rank, stderr).Len())
}

func (w *wall) text(rank int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stream(rank, false).String()
}

// view is a launcher's part of the wall, until it is dead.
type view struct {
	*wall
	dead bool
	told func(rank int, stderr bool, n int64)
}

func (v *view) Print(rank int, stderr bool, at int64, b []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.dead || v.dark.Load() {
		return nil
	}
	to := v.stream(rank, stderr)
	if at > int64(to.Len()) {
		v.notes.WriteString(fmt.Sprintf("rank %d: a gap from %d to %d\n", rank, to.Len(), at))
	}
	if again := int64(to.Len()) - at; again < int64(len(b)) {
		to.Write(b[max(again, 0):])
	}
	v.told(rank, stderr, int64(to.Len()))
	return nil
}

func (v *view) Ended(int) {}

func (v *view) Note(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.dead {
		v.notes.WriteString(text)
	}
}

func (v *view) OnShown(f func(rank int, stderr bool, n int64)) { v.told = f }

// relayed is a job of several launchers, one after the other.
type relayed struct {
	*wall
	t      *testing.T
	key    secure.Key
	hosts  int
	next   []chan remote.Successor
	kill   []func() // of agents
	dead   []bool
	term   uint64
	listen *remote.Listener
	agents []*remote.Remote
	view   *view
	result chan outcome
	// forgets says that the next launcher isn't told what the screen has.
	forgets bool
	stdin   io.Reader    // of the first launcher; nil: empty
	lost    error        // why the next one has none
	names   []string     // of the hosts; nil: their own
	hub     *console.Hub // shows the present launcher's output; nil: the wall does
	last    string       // the file without which no job of rounds ends

	keeping sync.Mutex
	state   []byte
	kept    int // how often
}

// newRelayed starts agents, and their first launcher's listener.
func newRelayed(t *testing.T, hosts int) *relayed {
	r := &relayed{wall: newWall(), t: t, key: secure.NewKey(), hosts: hosts, term: 1, dead: make([]bool, hosts)}
	r.last = filepath.Join(t.TempDir(), "last")
	r.open(remote.Options{})
	for i := range hosts {
		local, err := agent.NewLocal()
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(context.Background())
		served, next := make(chan struct{}), make(chan remote.Successor)
		go func() {
			defer close(served)
			err := remote.Serve(ctx, remote.Config{Addresses: r.listen.Addresses(), Number: i, Key: r.key, Agent: local, Next: next, Lease: forever{}})
			t.Logf("agent %d: %v", i, err)
		}()
		t.Cleanup(func() { end(); <-served })
		r.next, r.kill = append(r.next, next), append(r.kill, end)
	}
	r.expect()
	return r
}

// forever is a lease without end.
type forever struct{}

func (forever) Held() bool { return true }

func (r *relayed) open(o remote.Options) {
	o.Term, o.Verdicts = r.term, true
	var err error
	if r.listen, err = remote.Listen("127.0.0.1:0", r.key, o); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.listen.Close() })
	r.view, r.result = &view{wall: r.wall}, make(chan outcome, 1)
}

func (r *relayed) expect() {
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	r.agents = make([]*remote.Remote, r.hosts)
	for i := range r.agents {
		if r.dead[i] {
			continue
		}
		var err error
		if r.agents[i], err = r.listen.Expect(ctx, i); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *relayed) config(c Config) Config {
	own := r.view
	c.Screen, c.Stdin, c.Names = own, strings.NewReader(""), r.names
	if r.stdin != nil {
		c.Stdin = r.stdin
	}
	if r.hub != nil {
		c.Screen = r.hub.Screen(true)
	}
	c.Keep = func(state []byte, kept func()) {
		r.keeping.Lock()
		defer r.keeping.Unlock()
		if r.view == own && r.state != nil || r.kept == 0 {
			r.state = state
			r.kept++
		}
		go kept()
	}
	return c
}

// run starts the job. One of rounds goes on until letEnd or end.
func (r *relayed) run(c Config, args ...string) {
	if args[0] == "rounds" {
		args = append(slices.Clone(args), r.last)
	}
	c = r.config(complete(c, args))
	for _, a := range r.agents {
		c.Agents = append(c.Agents, a)
	}
	result := r.result
	go func() {
		report, err := Run(c)
		if err != nil {
			r.t.Error(err)
		}
		result <- outcome{report: report}
	}()
}

// loseLauncher ends the launcher as a kill would, as far as others can see.
func (r *relayed) loseLauncher() {
	r.keeping.Lock()
	r.mu.Lock()
	r.view.dead = true
	r.mu.Unlock()
	r.view = nil
	r.keeping.Unlock()
	r.listen.Abandon()
}

// resume has another launcher go on.
func (r *relayed) resume() {
	r.t.Helper()
	r.term++
	r.keeping.Lock()
	r.open(remote.Options{Adopt: true})
	state, err := DecodeState(r.state)
	r.keeping.Unlock()
	if err != nil {
		r.t.Fatal(err)
	}
	for i, next := range r.next {
		if !r.dead[i] {
			next <- remote.Successor{Term: r.term, Addresses: r.listen.Addresses()}
		}
	}
	r.expect()
	limited, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	resumption := Resumption{State: state, Shown: r.length, Input: func(int64) (io.Reader, error) { return strings.NewReader(""), r.lost }}
	if r.forgets {
		resumption.Shown = nil
	}
	for i, a := range r.agents {
		var standing []agent.Adopted
		var adopter agent.Adopter
		if !r.dead[i] {
			adopter = a
			if standing, err = a.Adopt(limited); err != nil {
				r.t.Fatal(err)
			}
		}
		resumption.Agents, resumption.Standing = append(resumption.Agents, adopter), append(resumption.Standing, standing)
	}
	c, result := r.config(Config{}), r.result
	go func() {
		report, err := Resume(c, resumption)
		if err != nil {
			r.t.Error(err)
		}
		result <- outcome{report: report}
	}()
}

// await waits until a rank has written so many bytes.
func (r *relayed) await(rank int, n int64) {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); r.length(rank, false) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("rank %d has written %d bytes; notes %q", rank, r.length(rank, false), r.notes.String())
		}
	}
}

// letEnd lets the job end. A launcher takes over when it gets a core: so long the job is there.
func (r *relayed) letEnd() {
	r.t.Helper()
	if err := os.WriteFile(r.last, nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// noted waits until the user has been told something.
func (r *relayed) noted(text string) {
	r.t.Helper()
	told := func() string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.notes.String()
	}
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(told(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("nothing says %q; notes %q", text, told())
		}
	}
}

// end lets the job end, and waits for that.
func (r *relayed) end() *Report {
	r.t.Helper()
	r.letEnd()
	select {
	case o := <-r.result:
		return o.report
	case <-time.After(40 * time.Second):
		r.mu.Lock()
		defer r.mu.Unlock()
		r.t.Fatalf("the job hangs; notes %q", r.notes.String())
		return nil
	}
}

// check says whether the output is the undisturbed one.
func (r *relayed) check(report *Report, ranks, n int) {
	r.t.Helper()
	for rank := range ranks {
		if got, want := r.text(rank), roundsOutput(ranks, rank, n); got != want {
			r.t.Errorf("rank %d: %d bytes, not %d: %.2000q", rank, len(got), len(want), got)
		}
	}
	if report.ExitCode != 0 || report.Outcome != OutcomeCompleted {
		r.t.Errorf("exit code %d, %s %s, notes %q", report.ExitCode, report.Outcome, report.Reason, r.notes.String())
		r.t.Errorf("stderr %q", r.stream(0, true).String())
	}
}

// checkHealed says whether a replica is back, perhaps at the second attempt.
func (r *relayed) checkHealed(report *Report) {
	r.t.Helper()
	if !slices.ContainsFunc(report.Heals, func(h Heal) bool { return h.Error == "" }) {
		r.t.Errorf("replacements: %+v, notes %q", report.Heals, r.notes.String())
	}
}

// pid is that of a process, by the state.
func (r *relayed) pid(proc int) int {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	s, err := DecodeState(r.state)
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Slots[proc].Pid
}

func (r *relayed) firstKept() int {
	r.keeping.Lock()
	defer r.keeping.Unlock()
	return r.kept
}
