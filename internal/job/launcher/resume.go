package launcher

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// A launcher that is lost takes what it had in its memory with it. Another one goes on with the
// State that the first had kept, and with what the agents tell: which processes run, what they have
// said, how they have ended, what they have written that wasn't shown.
//
// What the launcher before had told the processes may have reached some of them only. So all are
// told again who has died, has left, and has been admitted; what they know already changes nothing.
// late.go tells what becomes of replacements that are under way.

// Resumption is where another launcher goes on.
type Resumption struct {
	State *State
	// Agents are those of State.Hosts, nil for hosts that are lost.
	Agents []agent.Adopter
	// Standing are the processes that each agent had.
	Standing [][]agent.Adopted
	// Shown is how much of a rank's stream the screen has for good. nil: what the agents were told
	// to let go. The screen may have more, and leaves that out.
	Shown func(rank int, stderr bool) int64
	// Input is the job's input from a byte on. nil: there is no more input. If it can't go back so
	// far, Read fails with a console.InputGap. The error says why the rest is lost.
	Input func(from int64) (io.Reader, error)

	late []*late
}

// Resume goes on with a job to its end. Of the Config, only Names, Rehome, Evacuate, AddHosts,
// Stop, Screen, Keep, Part, Signals, Requests, Watch, Counted and the streams count. Like Run, it
// takes the process's signals.
func Resume(c Config, r Resumption) (*Report, error) {
	p := &plan{Config: r.State.Job.config(c)}
	p.Agents = nil
	if err := p.checkNumbers(); err != nil {
		return nil, &StartError{CodeUsage, err}
	}
	for i := range p.parts {
		p.parts[i].path = r.State.Paths[i]
	}
	agents := make([]agent.Agent, len(r.Agents))
	for i, a := range r.Agents {
		agents[i] = a
		if a == nil {
			agents[i] = lostAgent{r.State.Hosts[i]}
		}
	}
	p.Agents = agents
	if err := p.checkHosts(); err != nil {
		return nil, &StartError{CodeUsage, err}
	}
	p.planned = r.State.Faults
	j := newJob(p, agents, r.State.Trace.recording(), r.State.Name)
	defer close(j.over)
	signals := catchSignals()
	defer signals.release()
	j.answerRequests() // in the loop, which comes soon
	j.resume(&r)
	j.loop(signals)
	return &j.report, nil
}

// resume makes the job what it was.
func (j *job) resume(r *Resumption) {
	s := r.State
	slog.Debug("resume", "hosts", len(s.Hosts), "processes", len(s.Slots))
	j.started, j.report, j.ledger.survive = s.Report.Start, s.Report.restored(), s.Survive
	j.past = slices.Clone(s.FaultsPast)
	copy(j.hosts.left, s.Left)
	left := make([]int, j.size)
	j.procs = make([]*process, j.size)
	for id := range s.Slots {
		j.procs[id] = j.adopt(proto.Proc(id), r)
		left[id] = r.writer(j.procs[id]).barriers
	}
	if r.Shown == nil {
		r.Shown = j.released(r)
	}
	j.passShown(r)
	j.server.Restore(s.Space, left)
	if j.recovery != nil {
		j.resumeRecovery(s)
	}
	j.watchHosts()
	inputs, from := j.resumeStreams(r)
	j.feeder = newFeeder(inputAhead, j.inputKept(), inputs)
	j.feeder.base = from
	go j.feeder.run(j.resumeInput(r, from))
	j.tellAllAgain(r)
	j.resumeAttempts(r)
	j.hearAgain(r)
	for rank := range proto.Rank(j.ledger.Ranks()) {
		switch {
		case j.ending || !j.ledger.rankEnd(rank).lost || j.mayBeSaved(rank):
		case !j.goesOn():
			j.loseRank(rank, takenOver)
		case j.thins(): // what the launcher before did of that may be done again
			j.thin()
		}
	}
	j.awaitFaults()
	j.resumeDrains(s)
	j.changed()
	j.beginAttempts()
}

// resumeInput is the rest of the job's input. If that is lost, replicas that have had less than
// another one are ended: they would find an end where that one has found more.
func (j *job) resumeInput(r *Resumption, from int64) io.Reader {
	if r.Input == nil {
		return eof{}
	}
	input, err := r.Input(from)
	if err == nil {
		return input
	}
	most, waits := int64(0), false
	for _, x := range j.feeder.sinks {
		most, waits = max(most, x.at), waits || !x.gone
	}
	if !waits { // all have it to its end, or don't want it
		return eof{}
	}
	j.warn(fmt.Sprintf("the job's input is lost from byte %d on, and ends there for the program: %v", most, err))
	for k := range j.feeder.sinks {
		x := &j.feeder.sinks[k]
		if p := r.writer(j.procs[j.layout.Proc(0, k)]); !x.gone && x.at < most && !p.known {
			x.gone = true // it gets no end, which it would take for the true one
			p.Signal(unix.SIGKILL)
		}
	}
	return eof{}
}

// adopt finds the process that fills a slot.
func (j *job) adopt(id proto.Proc, r *Resumption) *process {
	slot := &r.State.Slots[id]
	var found *agent.Adopted
	var all []*late
	host := slot.Host
	for h := range r.Standing {
		for i := range r.Standing[h] {
			switch x := &r.Standing[h][i]; {
			case x.Proc != id:
			case x.Incarnation == slot.Incarnation && h == slot.Host && (found == nil || found.Incarnation < x.Incarnation):
				found = x
			case x.Incarnation > slot.Incarnation && said(x, control.Committed):
				if found != nil {
					go discard(found.Process) // it is dead
				}
				found, host = x, h
			case x.Incarnation > slot.Incarnation:
				all = append(all, newLate(x, h, slot))
			default:
				go discard(x.Process) // dead long ago
			}
		}
	}
	last, gone := j.underWay(slot, found, all)
	if last != nil {
		r.late = append(r.late, last)
	}
	for _, x := range gone {
		j.forget(x)
	}
	e := &j.ledger.entries[id]
	e.by = proto.NoProc
	p := &process{id: id, incarnation: slot.Incarnation, host: host, pid: slot.Pid, base: slot.Bases, tails: slot.Tails, ended: make(chan struct{})}
	if found == nil {
		p.Process = missing{lost: r.Agents[host] == nil, pid: slot.Pid}
	} else {
		p.Process, p.pid, p.barriers = found.Process, found.PID(), found.Barriers
		if found.Incarnation > slot.Incarnation { // it has become a replica, and the launcher before hadn't said so
			p.incarnation, p.base, p.tails = found.Incarnation, slot.Next, slot.NextTails
			*e = entry{ready: true, pid: p.pid, by: proto.NoProc}
			slot.Incarnation, slot.Entry = found.Incarnation, EntryState{Ready: true, Pid: p.pid, By: proto.NoProc}
		}
	}
	x := &slot.Entry
	*e = entry{
		ready: x.Ready, pid: x.Pid, finalized: x.Finalized, fenced: x.Fenced, outvoted: x.Outvoted, silent: x.Silent, by: x.By,
		end: ending{kind: endKind(x.Kind), lost: x.Lost, signal: syscall.Signal(x.Signal), code: x.Code},
	}
	p.known = e.end.kind != running
	p.follows, p.member = p.incarnation > 0, p.incarnation > 0
	return p
}

// eachStanding calls f for the processes that were found and whose output is shown, and what their
// agents say of them.
func (j *job) eachStanding(r *Resumption, f func(p *process, x *agent.Adopted)) {
	for _, standing := range r.Standing {
		for i := range standing {
			if x := &standing[i]; j.procs[x.Proc].Process == x.Process {
				f(j.procs[x.Proc], x)
			}
		}
	}
	for _, x := range r.late {
		if x.left.Follows {
			f(x.process, x.found)
		}
	}
}

// released is how much of each rank's streams was shown for good, by what agents were told to let
// go. Of several agents one may have been told more than the others.
func (j *job) released(r *Resumption) func(rank int, stderr bool) int64 {
	streams := make([][2]int64, j.layout.Ranks())
	j.eachStanding(r, func(p *process, x *agent.Adopted) {
		of := &streams[j.layout.Rank(p.id)]
		for i := range of {
			at := p.base[i] + x.OutputsAt[i]
			if x.OutputsAt[i] == 0 {
				at -= int64(len(p.tails[i]))
			}
			of[i] = max(of[i], at)
		}
	})
	return func(rank int, stderr bool) int64 { return streams[rank][index(stderr)] }
}

// passShown has the processes' streams go on behind what was shown.
func (j *job) passShown(r *Resumption) {
	j.eachStanding(r, func(p *process, x *agent.Adopted) {
		for i := range p.skip {
			p.start[i] = p.base[i] + x.OutputsAt[i]
			p.skip[i] = r.Shown(int(j.layout.Rank(p.id)), i == 1) - p.start[i]
		}
	})
}

// said says whether an adopted process has said something.
func said(x *agent.Adopted, t control.Type) bool {
	return slices.ContainsFunc(x.Said, func(m control.Message) bool { return m.Type == t })
}

// resumeRecovery makes the recovery's machine from the state.
func (j *job) resumeRecovery(s *State) {
	for id, input := range s.Inputs {
		j.recovery.inputAtMark[id] = input
	}
	var out actions
	for id, slot := range s.Slots {
		p := recovery.Process{Proc: proto.Proc(id), Incarnation: slot.Incarnation}
		if slot.Incarnation > 0 {
			j.recovery.Filled(p, &out)
		}
		j.recovery.Reserve(p.Proc, slot.Last)
	}
}

// resumeStreams connects all processes. It returns the sinks of the job's input, and where that
// begins.
func (j *job) resumeStreams(r *Resumption) (inputs []sink, from int64) {
	for rank := range j.layout.Ranks() {
		j.outputs.positions.shown(rank, false, r.Shown(rank, false))
		j.outputs.positions.shown(rank, true, r.Shown(rank, true))
	}
	j.collectOutput()
	for rank := range j.layout.Ranks() {
		for k := range j.layout.Degree(proto.Rank(rank)) {
			j.outputs.stdouts[rank].Begin(k, r.Shown(rank, false))
			j.outputs.stderrs[rank].Begin(k, r.Shown(rank, true))
		}
	}
	given := make(map[*process]*agent.Adopted)
	j.eachStanding(r, func(p *process, x *agent.Adopted) { given[p] = x })
	first := true
	for _, p := range j.procs {
		q := r.writer(p)
		if q != p {
			p.Stdout().Close()
			p.Stderr().Close()
		}
		j.outputs.read(q)
		j.recording.collect(p)
		if j.layout.Rank(p.id) == 0 {
			x := sink{w: q.Stdin(), gone: true}
			if a := given[q]; a != nil && q.hasInput() {
				if x.at, x.gone = a.StdinAt, a.StdinOver; !x.gone && (first || x.at < from) {
					from, first = x.at, false
				}
			}
			if q != p {
				x.lost = j.inputLost(q)
			}
			inputs = append(inputs, x)
		}
		if !p.known {
			j.running++
		}
		if p.incarnation > 0 { // some may not know it yet
			j.attach(p, j.replacementSaid, j.replacementReaped)
		} else {
			j.attach(p, j.said, j.reaped)
		}
	}
	for _, x := range r.late {
		j.running++
		j.attach(x.process, j.replacementSaid, j.replacementReaped)
	}
	if j.recovery != nil {
		from = 0 // a replacement needs it all
	}
	j.outputs.endRanks()
	return inputs, from
}

// tellAllAgain tells all processes what the launcher before may have told only some: first who was
// admitted. What is said of a death counts on that (package membership, Announce).
func (j *job) tellAllAgain(r *Resumption) {
	for _, p := range j.procs {
		if q := r.writer(p); q.incarnation > 0 {
			j.tellOthers(q, control.Message{Type: control.Admit, Proc: q.id, Incarnation: q.incarnation})
		}
	}
	for _, p := range j.procs {
		e := &j.ledger.entries[p.id]
		switch {
		case !p.known:
			continue
		case e.end.kind == diedEarly:
			j.tellOthers(p, control.Message{Type: control.Death, Proc: p.id, Incarnation: p.incarnation,
				Signal: int(e.end.signal), Code: e.end.code, Cause: j.how(p, e.end)})
			j.lead(func(m *recovery.Machine, now proto.Time, out *actions) { m.Died(now, p.identity(), "", out) })
		default:
			j.tellOthers(p, control.Message{Type: control.Left, Proc: p.id})
		}
		j.server.Gone(int(p.id))
	}
}

// hearAgain acts on what the processes have said, facts first.
func (j *job) hearAgain(r *Resumption) {
	type words struct {
		p *process
		m control.Message
	}
	var all []words
	for _, standing := range r.Standing {
		for _, x := range standing {
			p := j.procs[x.Proc]
			if p.Process != x.Process {
				continue
			}
			for _, m := range x.Said {
				all = append(all, words{p, m})
			}
		}
	}
	facts := []control.Type{control.Ready, control.Survive, control.Finalized}
	slices.SortStableFunc(all, func(a, b words) int {
		return cmp.Compare(b2i(!slices.Contains(facts, a.m.Type)), b2i(!slices.Contains(facts, b.m.Type)))
	})
	for _, x := range r.late {
		for _, m := range x.found.Said {
			if x.left.Follows {
				j.replacementSaid(x.process, m)
			}
		}
	}
	for _, x := range all {
		switch {
		case x.p.known && x.m.Type != control.Abort:
		case x.m.Type == control.Ready && x.p.incarnation > 0: // it fills its slot
		case x.p.incarnation > 0 && (x.m.Type == control.Arrived || x.m.Type == control.Committed || x.m.Type == control.Healed):
		default:
			j.said(x.p, x.m)
		}
	}
}

func b2i(is bool) int {
	if is {
		return 1
	}
	return 0
}

// takenOver begins the warning that the job has another launcher.
const takenOver = "another launcher has taken over"

// restored is a report that was read, as it was.
func (r Report) restored() Report {
	for _, list := range []*[]int{&r.LostRanks} {
		*list = append([]int{}, *list...)
	}
	r.Deaths, r.Heals, r.Views = append([]Death{}, r.Deaths...), append([]Heal{}, r.Heals...), append([]View{}, r.Views...)
	r.Faults, r.Warnings = append([]Fault{}, r.Faults...), append([]string{}, r.Warnings...)
	r.Warnings = append(r.Warnings, fmt.Sprintf("%s after %v", takenOver, time.Since(r.Start).Round(time.Millisecond)))
	for i := range r.Hosts {
		r.Hosts[i].Processes = append([]int{}, r.Hosts[i].Processes...)
	}
	return r
}

// eof is input that has ended.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
