package recovery

import "slices"

// stage is how far a process has come in becoming a replica.
type stage uint8

const (
	started stage = iota
	arrived
	committed
	whole
)

// process is a process of the job.
type process struct {
	Process
	stage                stage
	alive                bool
	hangs                bool    // a replacement that lives, and does nothing any more
	reaped               bool    // the leader knows of its death
	safe                 bool    // it has come to a safe point
	leaving              bool    // it is to leave
	retired              bool    // the leader has killed it, because it is to leave
	barred               bool    // the leader knows from a replacement that it can't be a donor
	unproven             bool    // all have known it for less than Relapse
	donor                Process // of a replacement
	knowsDonor           bool    // the replacement has heard from its donor
	toLeader, fromLeader []message
	said                 []message // all that it has said, of each only the last

	donating Process // the replacement whose donor it is; incarnation 0: none
	paused   bool
	marked   bool
}

// message is a message between a process and the leader.
type message struct {
	kind        messageKind
	replacement Process
}

type messageKind uint8

const (
	healable messageKind = iota
	saysArrived
	saysMark
	saysCommitted
	saysHealed
	saysFailed
	saysUnhealable
	saysHere
	// Messages to processes.
	toldDonate
	toldMarked
	toldDeath
	toldAsk
	toldGiveUp
)

func (p *process) send(kind messageKind, about Process) {
	m := message{kind, about}
	p.toLeader = append(slices.Clone(p.toLeader), m)
	if kind != saysHere {
		p.said = append(slices.DeleteFunc(slices.Clone(p.said), func(x message) bool { return x == m }), m)
	}
}

func (p *process) receive(kind messageKind, about Process) {
	if p.alive {
		p.fromLeader = append(slices.Clone(p.fromLeader), message{kind, about})
		p.takeIn()
	}
}

// takeIn has the process take its messages, up to the death of the replacement whose donor it is,
// or to the wish that it gives up. These are events of their own, because it matters whether the
// donor is paused before, or the replacement commits.
func (p *process) takeIn() {
	for len(p.fromLeader) > 0 && p.fromLeader[0] != (message{toldDeath, p.donating}) && p.fromLeader[0].kind != toldGiveUp {
		switch m := p.fromLeader[0]; {
		case m.kind == toldDonate && p.safe && p.donating.Incarnation == 0:
			p.donating = m.replacement
		case m.kind == toldMarked && p.donating == m.replacement:
			p.marked = true
		case m.kind == toldAsk:
			p.send(saysHere, Process{})
		}
		p.fromLeader = p.fromLeader[1:]
	}
}

func (p *process) die() {
	p.alive, p.fromLeader = false, nil
	p.stopDonating()
}

// isAsked says that a replacement has been asked to give up, and its answer is to come.
func (p *process) isAsked() bool {
	return slices.ContainsFunc(p.fromLeader, func(m message) bool { return m.kind == toldGiveUp }) ||
		slices.ContainsFunc(p.toLeader, func(m message) bool { return m.kind == saysCommitted || m.kind == saysFailed })
}

func (p *process) stopDonating() { p.donating, p.paused, p.marked = Process{}, false, false }
