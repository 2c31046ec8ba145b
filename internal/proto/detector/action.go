package detector

import "banyan/internal/proto"

// ActionKind says what the driver is to do.
type ActionKind uint8

// Kinds of actions, with the fields in use.
const (
	// SendHeartbeat tells the observer To that this process lives: Beat.
	SendHeartbeat ActionKind = iota
	// SendObserve tells To that this process now observes it (the paper's
	// NEWOBSERVER): Beat.
	SendObserve
	// SendNews is a copy of a broadcast (BCASTMSG) on its way to To: Bulletin.
	SendNews
	// SendReconcile tells To everything known here: Bulletin but for Source,
	// Cube and Tree; Ask.
	SendReconcile
	// SendProbe passes an indirect probe on to To: Beat, Probe.
	SendProbe
	// SendEviction tells To that the job counts its incarnations up to
	// Incarnation among the dead.
	SendEviction
	// ReportDeath tells the layers above of a death, Report, once each; and of a member that died
	// before a view had it when such a view is installed, whether its death was reported or not.
	ReportDeath
	// ReportLeft tells them that Report.Proc has left in order, likewise.
	ReportLeft
	// ReportFenced tells them that this process has to stop. The job holds it for dead, and
	// Report.By says so; or, if the cause is CauseSilence, it and Report.By have been out of
	// reach of each other for too long, though others reach both.
	ReportFenced

	actionKinds
)

// Beat is what a heartbeat says.
type Beat struct {
	View        uint32            // the sender's
	Incarnation proto.Incarnation // the sender's
	Digest      Digest            // of those it knows to be gone
}

// Bulletin is a copy of a broadcast, along one tree of one hypercube
// ([banyan/internal/topology.Hypercubes]).
//
// All that send, carry, have or had the bulletin share Gone, in a simulation even
// all processes. So it is never changed, and a machine may keep it. A driver that
// decodes bulletins gives each a slice of its own.
type Bulletin struct {
	View        uint32            // whose members the labels count; the source's and the sender's
	Incarnation proto.Incarnation // the sender's, which may not be the source
	Source      proto.Proc
	Cube, Tree  uint8
	// Gone are all that the source knows to be gone, sorted by position on
	// the view's ring. The view's other members take part in the broadcast, whatever
	// the processes that pass it on know.
	Gone []Entry
}

// Action is one thing to do.
type Action struct {
	Kind        ActionKind
	Ask         bool
	To          proto.Proc
	Incarnation proto.Incarnation
	Beat        Beat
	Bulletin    Bulletin
	Probe       Probe
	Report      Report
}

// Actions is what calls append to; the caller owns and empties it.
type Actions []Action

// Cause is how a death became known.
type Cause uint8

// Causes of a report.
const (
	// CauseEvidence is certain knowledge of this process.
	CauseEvidence Cause = iota
	// CauseSilence is a time-out of this process as observer.
	CauseSilence
	// CauseTold is another process's word.
	CauseTold
)

func (c Cause) String() string {
	switch c {
	case CauseEvidence:
		return "evidence"
	case CauseSilence:
		return "silence"
	default:
		return "told"
	}
}

// Report is a death, or an end in order, as this process learned of it.
type Report struct {
	Proc        proto.Proc
	Incarnation proto.Incarnation // the last that is known to be gone
	Cause       Cause
	// Silent is the time since the last heartbeat, or since the process
	// became the emitter if there was none. For CauseSilence.
	Silent proto.Time
	By     proto.Proc // whose word it is; this process itself for the other causes
}
