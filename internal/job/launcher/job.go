package launcher

import (
	"fmt"
	"os"
	"slices"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/job/status"
	"banyan/internal/proto"
)

// job is a running job. All fields belong to the loop, except as said.
type job struct {
	*plan
	*reporter
	ledger    *ledger
	hosts     *hosts
	spawner   *spawner
	recording *recording  // nil: no trace
	procs     []*process  // by Proc: the process that fills the replica slot, or filled it last
	server    *pmi.Server // safe for concurrent use
	feeder    *feeder     // safe for concurrent use
	outputs   *outputs
	recovery  *recoveryLead   // nil: dead processes aren't replaced
	back      *rollbackLead   // nil: the job doesn't go back to snapshots
	drained   <-chan struct{} // closed when all output is read

	// events are what the loop is to do next. All other goroutines post them.
	events chan func()
	over   chan struct{} // closed when the loop takes no more events

	started     time.Time
	departures  departures
	running     int  // number of processes that haven't been reaped
	ending      bool // the end is decided: deaths are no news
	killing     bool // all were killed; a host that couldn't be reached then is told again
	interrupted bool
	past        []bool                   // planned faults whose time has come
	injected    map[proto.Proc]time.Time // when the launcher hit a process with a planned fault
	stopped     map[*process]time.Time   // when a process was first seen stopped
	late        explanation
	told        told
	watched     watching
	operated    []status.Event // what those who watch have had done
	span        *spanning      // nil: no trace of a span is being taken
	outputError error          // the first
	keeping     keeping
	spawned     spawned
	thinning    thinningLead
}

// Run runs a job to its end. The error is a *StartError: nothing has been
// started, or everything that was has been killed. The report says what happened
// to a job that has started. Run takes the process's signals while it runs.
func Run(c Config) (*Report, error) {
	if c.Parent == "" {
		c.Parent = os.Getenv(env.Spawner)
	}
	return runAs(c, fmt.Sprintf("banyan-%d", os.Getpid()), catchSignals)
}

// runAs runs a job. name is that of its PMI's key-value space, and catch gives the signals that end
// it.
func runAs(c Config, name string, catch func() *signals) (*Report, error) {
	p, err := c.check()
	if err != nil {
		return nil, err
	}
	recording, err := p.record()
	if err != nil {
		return nil, err
	}
	agents := c.Agents
	if len(agents) == 0 {
		local, err := agent.NewLocal()
		if err != nil {
			recording.discard()
			return nil, &StartError{1, err}
		}
		defer local.Close()
		agents = []agent.Agent{local}
	}
	j := newJob(p, agents, recording, name)
	defer close(j.over)
	signals := catch()
	defer signals.release()
	p.paceHeartbeats(j.hosts.perCore())
	j.answerRequests() // in the loop, which comes soon
	if j.procs, err = j.spawner.startAll(); err != nil {
		recording.discard()
		j.notes.Close()
		<-j.notes.Drained()
		return nil, err
	}
	j.started = time.Now()
	j.report.Start, j.report.Hosts = j.started, j.hosts.report()
	j.report.Connect, j.report.Agents = Seconds(p.Connected), Seconds(p.Gathered)
	j.watchHosts()
	j.running = len(j.procs)
	j.tellStatus()
	if c.Started != nil {
		c.Started()
	}
	j.attachAll()
	j.beginRollback()
	j.changed()
	if text := p.heartbeatWarning(); text != "" {
		j.warn(text)
	}
	if os.Getenv(env.Spares) != "" {
		j.warn(env.Spares + " is ignored: it is for other launchers; this one starts replacements itself, with --heal")
	}
	j.planFaults()
	j.loop(signals)
	return &j.report, nil
}

// newJob makes a job. name is that of its PMI's key-value space.
func newJob(p *plan, agents []agent.Agent, recording *recording, name string) *job {
	if p.Screen == nil {
		p.Screen = newPrinters(&p.Config)
	}
	back := newRollbackLead(p)
	j := &job{
		plan:      p,
		back:      back,
		recording: recording,
		reporter:  newReporter(p, p.Screen),
		ledger:    newLedger(p.layout),
		hosts:     newHosts(p, agents),
		outputs:   newOutputs(p.layout, p.Screen, p.Keep != nil, p.Heal),
		events:    make(chan func(), 64),
		over:      make(chan struct{}),
		injected:  make(map[proto.Proc]time.Time),
		stopped:   make(map[*process]time.Time),
	}
	j.server = j.newServer(name)
	j.spawner = newSpawner(p, j.hosts, recording)
	j.spawner.base = p.firstIncarnation
	j.recovery = newRecoveryLead(p)
	j.ledger.survive = p.FaultTolerance == FaultToleranceULFM || p.FaultTolerance == FaultToleranceMPI
	if back != nil {
		back.screen.differs = j.outputDiffers
	}
	return j
}

// post has the loop call f.
func (j *job) post(f func()) {
	select {
	case j.events <- f:
	case <-j.over:
	}
}

// processes are all processes that may run: one for each replica slot, and the replacements that
// don't fill their slots yet.
func (j *job) processes() []*process {
	if j.recovery == nil {
		return j.procs
	}
	all := slices.Clip(j.procs)
	for _, x := range j.recovery.replacements {
		if x.process != nil {
			all = append(all, x.process)
		}
	}
	return all
}

// name names a process for people.
func (j *job) name(p *process) string {
	switch {
	case j.inproc():
		return fmt.Sprintf("the process of all ranks (%s)", j.pid(p))
	case j.layout.Degree(j.ledger.Rank(p.id)) == 1:
		return fmt.Sprintf("%v (%s)", j.ledger.Rank(p.id), j.pid(p))
	}
	return fmt.Sprintf("%v replica %d (%s)", j.ledger.Rank(p.id), j.ledger.Replica(p.id), j.pid(p))
}

// pid names a process for those who look for it on its host.
func (j *job) pid(p *process) string {
	if j.hosts.several() {
		return fmt.Sprintf("pid %d on %s", p.pid, j.hosts.name(p.host))
	}
	return fmt.Sprintf("pid %d", p.pid)
}

// hostNumbers are the places of processes as PMI has them.
func hostNumbers(places []int) []int32 {
	all := make([]int32, len(places))
	for i, host := range places {
		all[i] = int32(host)
	}
	return all
}
