package launcher

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"banyan/internal/counters"
	"banyan/internal/job/agent"
	"banyan/internal/job/console"
	"banyan/internal/job/recovery"
	"banyan/internal/job/status"
	"banyan/internal/proto"
)

// Watcher is told how a job is, by the loop. Its methods must not wait for anything.
type Watcher interface {
	// Begin comes first. The job's name isn't set.
	Begin(job status.Job)
	// Observe takes what the launcher sees: at most every watchEvery, and at last when the job is
	// over.
	Observe(o *status.Observation)
	// Sample takes what the processes have counted, about once a second, if Config.Counted is set.
	Sample(at proto.Time, all []status.Sample)
	// Agent tells of the agent of each host, which is called so, when it takes part. If it is an
	// agent.Showing it can show the job, too.
	Agent(host int, name string, a agent.Agent)
	// Operator gives what does what those who watch want, if they may. It comes after Begin.
	Operator(do status.Operator)
}

// watchEvery is how often a Watcher is told at most. What happens meanwhile comes together.
const watchEvery = 50 * time.Millisecond

// watching is what a Watcher was told. The zero value has told nothing.
type watching struct {
	last  time.Time
	armed bool // the loop will look again
	begun bool

	deaths, heals, views, snapshots, rollbacks, warnings int                // of the report
	attempts                                             []recovery.Process // under way
	lost                                                 []int
	hosts                                                []string // their states
	agents                                               int      // so many hosts' agents
	operated                                             int
}

// watch tells the Watcher how the job is, if that may have changed.
func (j *job) watch() {
	if j.Watch == nil {
		return
	}
	w := &j.watched
	if rest := watchEvery - time.Since(w.last); rest > 0 {
		if !w.armed {
			w.armed = true
			time.AfterFunc(rest, func() { j.post(func() { w.armed = false }) }) // the loop calls watch then
		}
		return
	}
	j.tellWatcher(nil)
}

// tellWatcher tells the Watcher at once. over is nil while the job runs.
func (j *job) tellWatcher(over *status.Over) {
	if j.Watch == nil {
		return
	}
	w := &j.watched
	if !w.begun {
		w.begun = true
		j.Watch.Begin(j.described())
		j.Watch.Operator(j.operate)
	}
	for ; w.agents < len(j.hosts.agents); w.agents++ {
		j.Watch.Agent(w.agents, j.hosts.name(w.agents), j.hosts.agents[w.agents])
	}
	w.last = time.Now()
	o := j.observation(w)
	o.Over = over
	if over != nil {
		text := fmt.Sprintf("the job has ended: %s, exit code %d", over.Outcome, over.ExitCode)
		o.News = append(o.News, status.Event{At: seconds(o.At), Kind: status.KindEnd, Text: text})
	}
	j.Watch.Observe(o)
}

// countEvery is how often a Watcher is told what the processes have counted.
const countEvery = time.Second

// countTicks gives when the Watcher is to be told that; never if it isn't. end is to be called at
// last.
func (j *job) countTicks() (ticks <-chan time.Time, end func()) {
	if j.Watch == nil || !j.Counted {
		return nil, func() {}
	}
	t := time.NewTicker(countEvery)
	return t.C, t.Stop
}

// tellCounters tells the Watcher what the processes have counted. The next observation comes at
// once, and shows those that have fallen silent.
func (j *job) tellCounters() {
	if at := j.clock(); j.watched.begun {
		j.Watch.Sample(at, j.samples(at))
	}
}

// samples are what the processes have counted.
func (j *job) samples(at proto.Time) (all []status.Sample) {
	for i, p := range j.procs {
		c, is := p.Process.(agent.Counting)
		if !is || j.ledger.entries[i].end.kind != running {
			continue
		}
		if r, ok := c.Counters(); ok {
			all = append(all, sampled(i, p, &r, at))
		}
	}
	return all
}

// sampled is what a process has counted, for people.
func sampled(number int, p *process, r *counters.Record, at proto.Time) status.Sample {
	x := status.Sample{Process: number, Incarnation: int(p.incarnation), Stamp: r.Stamp, Counters: status.Counters{
		Sent: r.Sent, Bytes: r.Bytes + r.Read, Unexpected: r.Unexpected, Retained: r.Retained, RetainedBytes: r.RetainedBytes,
		Safepoints: r.Safepoints, Expected: r.Expected, Frames: r.Frames, Rounds: r.Rounds, Late: r.Late, Waits: r.Waits, WaitsFor: int(r.WaitsFor),
	}}
	if r.Waits != "" {
		// To a tenth of a second, so that a wait that goes on is the same in each sample.
		x.Counters.WaitsSince = seconds((at - proto.Time(r.Waited)) / tenth * tenth)
	}
	return x
}

const tenth = proto.Time(100 * time.Millisecond)

// tellEnd tells the Watcher how the job has ended.
func (j *job) tellEnd() {
	r := &j.report
	j.tellWatcher(&status.Over{Outcome: r.Outcome, Reason: r.Reason, ExitCode: r.ExitCode})
}

// described is what doesn't change about the job.
func (j *job) described() status.Job {
	return status.Job{
		Command: j.report.Command, Ranks: j.layout.Ranks(), Replicas: j.Replicas, Degrees: j.report.Degrees, Protocol: j.Protocol,
		Transport: j.Transport, HeartbeatPeriod: seconds(proto.Time(j.HeartbeatPeriod)), Heal: j.Heal, Rollback: j.Rollback, Start: j.started.UTC().Format(time.RFC3339Nano),
	}
}

// answerState answers what the job is like to those who ask once.
func (j *job) answerState(func(string)) (state *status.State, err error) {
	if !j.ask(func() {
		t := status.NewTracker(j.described())
		o := j.observation(new(watching))
		if t.Observe(o); j.Counted {
			t.Sample(o.At, j.samples(o.At))
		}
		state = t.State()
		if j.Requests != nil {
			state.Job.Name = j.Requests.Info().Name
		}
	}) {
		return nil, errEnded
	}
	return state, nil
}

// observation is how the job is, with what happened since w was told.
func (j *job) observation(w *watching) *status.Observation {
	o := &status.Observation{At: j.clock(), Hosts: j.watchedHosts(), Slots: make([]status.Slot, j.size)}
	var attempts []*recovery.Attempt
	if j.recovery != nil {
		attempts = j.recovery.Attempts()
	}
	for i := range o.Slots {
		p := j.procs[i]
		o.Slots[i] = status.Slot{
			Rank: int(j.ledger.Rank(proto.Proc(i))), Replica: j.ledger.Replica(proto.Proc(i)), Host: p.host, PID: p.pid,
			Incarnation: int(p.incarnation), State: j.ledger.entries[i].watched(),
		}
	}
	for _, a := range attempts {
		if s := &o.Slots[a.Proc]; s.State == status.Dead && !a.Committed() {
			s.State = status.Healing
		}
		if s := &o.Slots[a.Donor.Proc]; s.State == status.Live && a.Phase == recovery.TakeOver {
			s.State = status.Donor
		}
	}
	o.News = j.news(w, attempts, o.Hosts)
	return o
}

// watched is the state of a slot for people.
func (e *entry) watched() string {
	switch {
	case e.end.kind == inOrder:
		return status.Finished
	case e.end.kind == failedLate:
		return status.Failed
	case e.end.kind == diedEarly:
		return status.Dead
	case e.fenced:
		return status.Fenced
	case !e.ready:
		return status.Starting
	}
	return status.Live
}

// watchedHosts are the hosts for people.
func (j *job) watchedHosts() []status.Host {
	all := make([]status.Host, len(j.hosts.found))
	for host, x := range j.hostList() {
		r := &all[host]
		*r = status.Host{Name: x.Name, State: hostStates[x.State], Cores: x.Cores, Processes: x.Processes, Rack: j.hosts.found[host].Rack}
		r.Oversubscribed = r.Processes > r.Cores
		if host < len(j.Racks) && j.Racks[host] != "" {
			r.Rack = j.Racks[host]
		}
	}
	return all
}

var hostStates = map[string]string{
	console.HostRuns: status.HostRuns, console.HostWaits: status.HostWaits, console.HostDrains: status.HostDrains,
	console.HostLeft: status.HostLeft, console.HostLost: status.HostLost,
}

// news is what happened since w was told, by time.
func (j *job) news(w *watching, attempts []*recovery.Attempt, hosts []status.Host) (all []status.Event) {
	r := &j.report
	now := seconds(j.clock())
	for _, d := range r.Deaths[w.deaths:] {
		text := d.line(fmt.Sprintf("rank %d replica %d (pid %d on %s)", d.Rank, d.Replica, d.PID, d.Host), d.how())
		all = append(all, status.Event{At: seconds(proto.Time(d.At)), Kind: status.KindDeath, Text: text, Cause: d.Cause,
			Process: new(d.Process), Rank: new(d.Rank), Replica: new(d.Replica)})
	}
	for _, h := range r.Heals[w.heals:] {
		kind, text := status.KindHealed, fmt.Sprintf("rank %d replica %d is healed: pid %d on %s has the state of replica %d", h.Rank, h.Replica, h.PID, h.Host, h.Donor)
		if h.Error != "" {
			kind, text = status.KindNotHeal, fmt.Sprintf("rank %d replica %d isn't healed: %s", h.Rank, h.Replica, h.Error)
		}
		all = append(all, status.Event{At: seconds(proto.Time(h.Began + h.Took)), Kind: kind, Text: text, Took: seconds(proto.Time(h.Took)),
			Process: new(h.Process), Rank: new(h.Rank), Replica: new(h.Replica)})
	}
	for _, v := range r.Views[w.views:] {
		all = append(all, status.Event{At: seconds(proto.Time(v.At)), Kind: status.KindView, View: v.Number, Members: v.Members,
			Text: fmt.Sprintf("view %d of %d processes is in force", v.Number, v.Members)})
	}
	for _, s := range r.Snapshots[w.snapshots:] {
		all = append(all, status.Event{At: seconds(proto.Time(s.At + s.Took)), Kind: status.KindSnapshot, Took: seconds(proto.Time(s.Took)),
			Text: fmt.Sprintf("snapshot %d is taken", s.Number)})
	}
	for _, b := range r.Rollbacks[w.rollbacks:] {
		all = append(all, status.Event{At: seconds(proto.Time(b.At + b.Took)), Kind: status.KindRollback, Took: seconds(proto.Time(b.Took)),
			Text: fmt.Sprintf("all processes have started again from snapshot %d", b.Snapshot)})
	}
	for _, text := range r.Warnings[w.warnings:] {
		kind := status.KindWarning
		if strings.HasPrefix(text, takenOver) {
			kind = status.KindLauncher
		}
		all = append(all, status.Event{At: now, Kind: kind, Text: text})
	}
	all = append(all, j.operated[min(w.operated, len(j.operated)):]...)
	w.operated = len(j.operated)
	w.deaths, w.heals, w.views, w.snapshots, w.rollbacks, w.warnings = len(r.Deaths), len(r.Heals), len(r.Views), len(r.Snapshots), len(r.Rollbacks), len(r.Warnings)
	told := w.attempts
	w.attempts = nil
	for _, a := range attempts {
		if w.attempts = append(w.attempts, a.Process); slices.Contains(told, a.Process) {
			continue
		}
		rank, replica := int(j.ledger.Rank(a.Proc)), j.ledger.Replica(a.Proc)
		all = append(all, status.Event{At: seconds(a.Began), Kind: status.KindHealing, Process: new(int(a.Proc)), Rank: &rank, Replica: &replica,
			Text: fmt.Sprintf("a replacement for rank %d replica %d is started; replica %d is its donor", rank, replica, j.ledger.Replica(a.Donor.Proc))})
	}
	for _, rank := range j.ledger.lostRanks() {
		if !slices.Contains(w.lost, rank) && !j.mayBeSaved(proto.Rank(rank)) {
			w.lost = append(w.lost, rank)
			all = append(all, status.Event{At: now, Kind: status.KindRankLost, Rank: &rank, Text: fmt.Sprintf("rank %d is lost: %s", rank, j.ledger.howLost(proto.Rank(rank)))})
		}
	}
	all = append(all, j.hostNews(w, hosts, now)...)
	slices.SortStableFunc(all, func(a, b status.Event) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	return all
}

// hostNews tells of hosts that have come or gone since w was told.
func (j *job) hostNews(w *watching, hosts []status.Host, now status.Seconds) (all []status.Event) {
	for i, h := range hosts {
		was := ""
		if i < len(w.hosts) {
			was = w.hosts[i]
		} else {
			w.hosts = append(w.hosts, "")
		}
		w.hosts[i] = h.State
		r := &j.report.Hosts[i]
		e := status.Event{At: now, Host: new(i)}
		switch {
		case h.State == was:
			continue
		case h.State == status.HostLost:
			if e.Kind, e.Text = status.KindHostLost, fmt.Sprintf("host %s is lost", h.Name); r.Reason != "" {
				e.Text += ": " + r.Reason
			}
			if r.Lost != nil {
				e.At = seconds(proto.Time(*r.Lost))
			}
		case h.State == status.HostLeft:
			e.Kind, e.Text = status.KindHostLeft, fmt.Sprintf("host %s has left the job", h.Name)
		case was == "" && r.Joined != nil:
			e.Kind, e.Text, e.At = status.KindHostCame, fmt.Sprintf("host %s has joined", h.Name), seconds(proto.Time(*r.Joined))
		default:
			continue
		}
		all = append(all, e)
	}
	return all
}

// how tells how a process died, from what the report has.
func (d *Death) how() string {
	switch {
	case d.Cause == CauseHostLost:
		return "its host is lost"
	case d.Cause == CauseSilence:
		return "silent, killed"
	case d.Cause == CauseCorruption:
		return "its data is wrong, killed"
	}
	return ending{kind: diedEarly, signal: syscall.Signal(d.Signal), code: d.Code}.String()
}

// seconds is a time as status has it.
func seconds(t proto.Time) status.Seconds { return float64(t/1000) / 1e6 }
