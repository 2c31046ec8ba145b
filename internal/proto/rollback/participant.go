package rollback

import (
	"slices"

	"banyan/internal/proto"
)

// stage is how far a Participant is with a snapshot.
type stage uint8

const (
	free     stage = iota
	held           // it doesn't pass safe point at
	aimed          // it goes on to safe point at, and stands there
	paused         // it stands there
	flushing       // it waits for markers
	captured       // its state is captured or loaded
	awaiting       // it stands at its first safe point until all have come to theirs
)

// DeedKind says what a Deed is.
type DeedKind uint8

// Kinds of deeds.
const (
	SayReport DeedKind = iota // send Report to the coordinator
	SendMark                  // send the marker of Snapshot to To, behind all that was sent before
	TakeState                 // capture the state, or load it; then call Done
	GoOn                      // the program goes on
)

// Deed is something that a Participant wants done.
type Deed struct {
	Kind     DeedKind
	Report   Report
	Snapshot Snapshot
	To       proto.Proc
}

// Participant is the part of one process.
type Participant struct {
	epoch    Epoch
	loads    bool   // its first safe point loads a snapshot
	here     bool   // its part of that is at its host
	passed   uint64 // safe points that the program has come to
	snapshot Snapshot
	stage    stage
	at       uint64
	waits    bool         // the program stands at a safe point
	awaited  []proto.Proc // whose markers it needs, once it was told
	sends    []uint64     // how many messages each rank had sent there
	repeats  bool         // parts have what was decided before the first safe point
	marked   Snapshot     // the snapshot whose markers have come
	marks    []proto.Proc // of these processes, in order

	left proto.Time // when the program went on from its last safe point; Never: it has come to none
	step proto.Time // the longest time from one to the next
}

// NewParticipant makes the part of a process of an epoch. If from isn't Beginning, the process
// loads that snapshot at its first safe point.
func NewParticipant(epoch Epoch, from Snapshot) *Participant {
	p := &Participant{epoch: epoch, left: proto.Never}
	if from != Beginning {
		p.loads, p.snapshot, p.stage, p.at = true, from, aimed, 1
	}
	return p
}

// Loads says whether the process is to load a snapshot and hasn't yet.
func (p *Participant) Loads() bool { return p.loads }

// Here says whether the part that the process is to load is at its host.
func (p *Participant) Here() bool { return p.here }

// Waits says whether the program stands at a safe point.
func (p *Participant) Waits() bool { return p.waits }

// Passed is the number of safe points that the program has come to.
func (p *Participant) Passed() uint64 { return p.passed }

// SetPassed sets that number to that of the loaded snapshot.
func (p *Participant) SetPassed(n uint64) { p.passed = n }

// Idle says whether no snapshot is being taken or loaded.
func (p *Participant) Idle() bool { return p.stage == free }

// Accepts says whether what a process of an epoch has sent may be received.
func (p *Participant) Accepts(epoch Epoch) bool { return epoch == p.epoch }

// Sends are how many messages each rank has sent up to the safe point at which all stand. What has
// come beyond that is from a replica that was ahead of its siblings, and has died: they send it
// again.
func (p *Participant) Sends() []uint64 { return p.sends }

// Repeats says whether the process's part of the snapshot has what was decided before its first
// safe point.
func (p *Participant) Repeats() bool { return p.repeats }

// Sent gives the processes to which this one has sent since it was started, in ascending order, and
// how many messages its program has sent.
type Sent func() (to []proto.Proc, sends uint64)

// Ordered takes an order. Orders come in the coordinator's order.
func (p *Participant) Ordered(now proto.Time, o Order, sent Sent, out *[]Deed) {
	switch o.Kind {
	case Hold:
		if p.stage != free {
			return
		}
		p.snapshot, p.stage, p.at = o.Snapshot, held, p.passed+1
		p.say(Report{Kind: Holding, At: p.at, Step: p.step}, out)
	case Aim:
		if p.stage != held || o.Snapshot != p.snapshot {
			return
		}
		p.stage, p.at = aimed, o.At
		if p.waits {
			p.stand(now, sent, out)
		}
	case Flush:
		if p.stage != paused || o.Snapshot != p.snapshot {
			return
		}
		p.stage, p.awaited, p.sends, p.repeats = flushing, o.From, o.Sends, o.Repeats
		p.flushed(out)
	case Resume:
		if p.stage == free || o.Snapshot != p.snapshot {
			return
		}
		p.stage, p.awaited, p.sends, p.loads = free, nil, nil, false
		p.goOn(now, out)
	case Start:
		p.here = p.here || p.loads && o.Snapshot == p.snapshot
	}
}

// Safepoint says that the program has come to a safe point. It may go on when Waits is false.
func (p *Participant) Safepoint(now proto.Time, sent Sent, out *[]Deed) {
	p.passed++
	if p.left != proto.Never {
		p.step = max(p.step, now-p.left, 1)
	}
	p.left = now
	switch p.stage {
	case awaiting:
		p.waits = true
		p.say(Report{Kind: Came}, out)
	case held, aimed:
		p.waits = true
		p.stand(now, sent, out)
	}
}

// stand decides what a program does that stands at a safe point.
func (p *Participant) stand(now proto.Time, sent Sent, out *[]Deed) {
	switch {
	case p.stage != aimed:
	case p.passed < p.at:
		p.goOn(now, out)
	case p.passed > p.at:
		// It didn't know how far it was when it said so: it was just getting a donor's state.
		p.Fail("is beyond the safe point at which the others stand", out)
	default:
		p.stage = paused
		to, sends := sent()
		for _, r := range to {
			*out = append(*out, Deed{Kind: SendMark, Snapshot: p.snapshot, To: r})
		}
		p.say(Report{Kind: Paused, Sent: to, Sends: sends}, out)
	}
}

func (p *Participant) goOn(now proto.Time, out *[]Deed) {
	if p.waits {
		p.waits, p.left = false, now
		*out = append(*out, Deed{Kind: GoOn})
	}
}

func (p *Participant) say(r Report, out *[]Deed) {
	r.Epoch, r.Snapshot = p.epoch, p.snapshot
	*out = append(*out, Deed{Kind: SayReport, Report: r})
}

// Marker takes the marker of a snapshot from another process of the epoch. It may come before the
// order to take the snapshot.
func (p *Participant) Marker(from proto.Proc, s Snapshot, out *[]Deed) {
	if s < p.marked {
		return // of a snapshot that was abandoned
	}
	if s > p.marked {
		p.marked, p.marks = s, nil
	}
	if i, known := slices.BinarySearch(p.marks, from); !known {
		p.marks = slices.Insert(slices.Clone(p.marks), i, from)
	}
	if p.stage == flushing {
		p.flushed(out)
	}
}

// flushed has the state taken when all markers are there.
func (p *Participant) flushed(out *[]Deed) {
	if len(p.awaited) > 0 && p.marked != p.snapshot {
		return
	}
	for _, r := range p.awaited {
		if _, came := slices.BinarySearch(p.marks, r); !came {
			return
		}
	}
	p.stage = captured
	*out = append(*out, Deed{Kind: TakeState, Snapshot: p.snapshot})
}

// Done says that the state was captured or loaded.
func (p *Participant) Done(out *[]Deed) {
	if p.stage == captured {
		p.say(Report{Kind: Captured}, out)
	}
}

// Fail says that the process can't be captured at this safe point, or comes to no other. It is told
// to go on.
func (p *Participant) Fail(why string, out *[]Deed) {
	if p.stage != free {
		p.say(Report{Kind: Unable, Why: why}, out)
	}
}
