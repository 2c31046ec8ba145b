package launcher

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher/output"
	"banyan/internal/job/pmi"
	"banyan/internal/proto"
)

const (
	// outputKept bounds the output kept of a replica that is ahead.
	outputKept = 256 << 10
	// promptDelay is how long an unfinished line of a replica is kept back.
	promptDelay = 50 * time.Millisecond
	// lineHold is how long an unfinished line of a rank keeps the other ranks'
	// lines waiting.
	lineHold = time.Second
	// inputAhead bounds the input kept for a replica that reads slowly, inputKept that for replacements.
	inputAhead = 1 << 20
	inputKept  = 64 << 20
	// killDelay is how long interrupted processes get to end by themselves.
	killDelay = 2 * time.Second
)

// job is a running job. All fields belong to the loop, except as said.
type job struct {
	*plan
	ledger    *ledger
	recording *recording // nil: no trace
	procs     []*process
	server    *pmi.Server // may be called from anywhere
	feeder    *feeder     // may be called from anywhere
	notes     *queue[string]

	// events are what the loop is to do next, told by everybody else.
	events chan func()
	over   chan struct{} // closed when nobody takes events any more
	copies sync.WaitGroup

	outs, errs []*output.Collector // by rank
	ended      []sync.WaitGroup    // by rank: those who read what its replicas write
	heal       *healing            // nil: the dead stay dead

	started     time.Time
	running     int
	ending      bool // the end is decided: deaths are no news
	interrupted bool
	injected    map[proto.Proc]time.Time // when the launcher hit a process
	stopped     map[*process]time.Time   // when a process was first seen stopped
	told        map[string]bool          // of corruptions, and of who can't be a donor
	asked       map[proto.Proc]bool      // who hasn't yet said what it waits for; nil: nobody was asked
	reasons     int                      // how many processes have been told of that the job waits for
	outputError error
	report      Report
}

// Run runs a job to its end. The error is a *StartError: nothing has been
// started, or everything that was has been killed. What happens to a job that
// has started is in the report. Run takes the process's signals while it runs.
func Run(c Config) (*Report, error) {
	p, err := c.check()
	if err != nil {
		return nil, err
	}
	recording, err := p.record()
	if err != nil {
		return nil, err
	}
	stderr := output.NewPrinter(c.Stderr, c.Label, lineHold)
	j := &job{
		plan:      p,
		recording: recording,
		ledger:    newLedger(p.layout),
		notes:     newQueue(func(s string) { stderr.Note("banyan: " + s + "\n") }),
		events:    make(chan func(), 64),
		over:      make(chan struct{}),
		injected:  make(map[proto.Proc]time.Time),
		stopped:   make(map[*process]time.Time),
		told:      make(map[string]bool),
		report: Report{
			Command: p.command(), Ranks: p.ranks, Replicas: p.Replicas, Degrees: p.differing(), Protocol: p.Protocol,
			Transport: p.Transport, Outcome: OutcomeCompleted,
			Deaths: []Death{}, Heals: []Heal{}, Views: []View{}, Faults: []Fault{}, Warnings: []string{},
		},
	}
	defer close(j.over)
	j.server = pmi.NewServer(p.size, fmt.Sprintf("banyan-%d", os.Getpid()), func(rank, code int, text string) {
		j.tell(func() { j.abort(j.procs[rank], code, text) })
	})
	j.server.Divide(func(rank int) int { return p.index(int(j.ledger.Rank(proto.Proc(rank)))) })
	signals := catchSignals()
	defer signals.release()
	release := make(chan struct{})
	defer close(release)
	thread := lastingThread(release)
	starting := func(f func() error) error { return thread(func() error { return bound(f) }) }
	j.heal = p.healer(starting)
	if err := starting(j.startAll); err != nil {
		recording.discard()
		j.notes.close()
		<-j.notes.drained
		return nil, err
	}
	j.attach(output.NewPrinter(c.Stdout, c.Label, lineHold), stderr)
	if text := p.tight(); text != "" {
		j.warn(text)
	}
	if os.Getenv(env.Spares) != "" {
		j.warn(env.Spares + " is ignored: it is for other launchers; this one starts replacements itself, with --heal")
	}
	j.planFaults()
	j.loop(signals)
	return &j.report, nil
}

// tell has the loop call f.
func (j *job) tell(f func()) {
	select {
	case j.events <- f:
	case <-j.over:
	}
}

// startAll starts the processes, all or none.
func (j *job) startAll() error {
	places, err := j.places()
	if err != nil {
		return &StartError{1, err}
	}
	for i := range j.size {
		id := proto.Proc(i)
		part, err := j.home(id, 0)
		if err != nil {
			j.killStarted()
			return err
		}
		env := append(inherited(part.Env), j.environment(id)...)
		env = append(env, j.firstEnvironment(id)...)
		if err := places.enter(i); err != nil {
			return &StartError{1, err}
		}
		p, err := start(id, part, env, j.input(j.ledger.Rank(id)), false)
		if err != nil {
			j.killStarted()
			return startError(part.Program, err)
		}
		slog.Debug("started", "process", i, "pid", p.pid)
		j.procs = append(j.procs, p)
	}
	j.started = time.Now()
	j.report.Start = j.started
	j.running = len(j.procs)
	return nil
}

// killStarted ends the processes of a job that couldn't be started as a whole.
func (j *job) killStarted() {
	for _, p := range j.procs {
		p.signal(syscall.SIGKILL)
		close(p.heard) // nobody listens
		p.wait()
		p.closeAll()
	}
}

// startError says what the failure to start a program means.
func startError(program string, err error) error {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	code := 1
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return &StartError{CodeNotExecutable, fmt.Errorf("%s can't be executed: it is neither a program for this machine nor a script with a #! line", program)}
	case errors.Is(err, syscall.EACCES):
		code = CodeNotExecutable
	case errors.Is(err, syscall.ENOENT): // the interpreter is missing
		code = CodeNotFound
	}
	return &StartError{code, fmt.Errorf("%s can't be started: %w", program, err)}
}

// ownVariables are those that environment sets, or that another launcher may
// have set for this process.
var ownVariables = append([]string{"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE"}, env.SetByLauncher...)

// inherited is the environment that the processes have from the launcher: of
// variables given twice the last value, and none of ownVariables.
func inherited(all []string) []string {
	seen := make(map[string]bool)
	for _, name := range ownVariables {
		seen[name] = true
	}
	var rest []string
	for _, s := range slices.Backward(all) {
		if name, _, _ := strings.Cut(s, "="); !seen[name] {
			seen[name] = true
			rest = append(rest, s)
		}
	}
	slices.Reverse(rest)
	return rest
}

// environment is what a process is told.
func (j *job) environment(id proto.Proc) []string {
	all := []string{
		"PMI_FD=" + strconv.Itoa(pmiDescriptor),
		"PMI_RANK=" + strconv.Itoa(int(id)),
		"PMI_SIZE=" + strconv.Itoa(j.size),
		env.ControlFD + "=" + strconv.Itoa(controlDescriptor),
		env.Replicas + "=" + env.FormatReplicas(j.Degrees),
		env.Protocol + "=" + j.Protocol,
		env.Verify + "=" + strconv.FormatBool(j.Verify),
		env.Cores + "=" + strconv.Itoa(runtime.NumCPU()),
		env.Transport + "=" + j.Transport,
		env.HeartbeatPeriod + "=" + j.HeartbeatPeriod.String(),
		env.HeartbeatTimeout + "=" + j.HeartbeatTimeout.String(),
	}
	if j.heal != nil {
		all = append(all, env.Heal+"=1")
	}
	if j.inproc() {
		all = append(all, env.LocalRanks+"="+strconv.Itoa(j.ranks))
	}
	if j.layout.Replicated() {
		// Otherwise the replicas of a Python program iterate over sets in
		// different orders.
		all = append(all, "PYTHONHASHSEED=0")
	}
	return all
}

// firstEnvironment is what a process is told beside that if it's the first in its
// place: a fault strikes once, and a trace is of those that were there from the start.
func (j *job) firstEnvironment(id proto.Proc) []string {
	all := j.recording.environment()
	if own := fault.FormatOwn(j.planned, int(j.ledger.Rank(id)), j.ledger.Replica(id)); own != "" {
		all = append(all, env.Fault+"="+own)
	}
	return all
}

// attach connects the processes with the rest of the world.
func (j *job) attach(stdout, stderr *output.Printer) {
	ranks := j.ledger.Ranks()
	j.outs, j.errs = make([]*output.Collector, ranks), make([]*output.Collector, ranks)
	for r := range ranks {
		j.outs[r] = j.collector(stdout, r, "stdout")
		j.errs[r] = j.collector(stderr, r, "stderr")
	}
	j.ended = make([]sync.WaitGroup, ranks)
	var inputs []sink
	for _, p := range j.procs {
		j.copyOut(p)
		if p.stdin != nil {
			inputs = append(inputs, p.sink())
		}
		go j.server.Serve(int(p.id), p.pmi)
		go p.listen(func(m control.Message) { j.tell(func() { j.heard(p, m) }) })
		go func() {
			status, at := p.wait()
			j.tell(func() { j.reaped(p, status, at) })
		}()
	}
	for r := range ranks {
		j.copies.Go(func() {
			j.ended[r].Wait()
			stdout.Ended(r)
			stderr.Ended(r)
		})
	}
	kept := 0
	if j.heal != nil {
		kept = inputKept
	}
	j.feeder = newFeeder(inputAhead, kept, inputs)
	go j.feeder.run(j.Stdin)
}

// copyOut passes on what a process writes, until its end.
func (j *job) copyOut(p *process) {
	r, replica := int(j.ledger.Rank(p.id)), j.ledger.Replica(p.id)
	copyOut := func(c *output.Collector, from *tap) {
		j.ended[r].Go(func() { c.Copy(replica, from, p.leftInOrder); from.Close() })
	}
	copyOut(j.outs[r], p.stdout)
	copyOut(j.errs[r], p.stderr)
}

// collector makes the collector of one stream of one rank.
func (j *job) collector(to *output.Printer, rank int, stream string) *output.Collector {
	failed := false
	return output.NewCollector(output.Config{
		Replicas: j.layout.Degree(proto.Rank(rank)), Keep: outputKept, Delay: promptDelay,
		Print: func(b []byte) {
			if err := to.Print(rank, b); err != nil && !failed {
				failed = true
				j.tell(func() { j.outputFailed(stream, err) })
			}
		},
		Diverged: func(line, leader int) {
			j.tell(func() {
				j.warn(fmt.Sprintf("the replicas of rank %d write different bytes to %s, first in line %d; those of replica %d are shown", rank, stream, line, leader))
			})
		},
	})
}
