package replica

import "banyan/internal/proto"

// Message is a logical message on its way to every replica of its destination.
// The caller owns the memory (and may pool it), fills in the fields above Seq
// and leaves the message alone from Send until its Release.
type Message struct {
	Context    uint64
	Dst        proto.Rank
	Tag        int32
	Total      uint64 // bytes of the message
	Rendezvous bool   // too large to send unasked: offered, then pulled
	Body       []byte // opaque to the machine
	User       uint64 // opaque to the machine

	// Seq is set by Send: 1, 2, 3… per (Context, own rank, Dst).
	Seq uint64

	// channel is where the message is retained; nil before Send and from
	// Release on.
	channel *outgoing
	// pending are the replicas of Dst that may not have the message yet:
	// they haven't acknowledged it, and this process hasn't sent it to
	// them itself. Empty exactly when the message is released.
	pending replicas
}

// copied is how many bytes are copied to retain the message.
func (m *Message) copied() uint64 {
	if m.Rendezvous {
		return 0
	}
	return m.Total
}

// ActionKind says what an Action asks for.
type ActionKind uint8

// Kinds of actions.
const (
	// Transmit sends Message to the process To: an eager one whole, a
	// rendezvous as an offer, whose data To then pulls.
	Transmit ActionKind = iota + 1
	// Release gives Message back to its owner: every replica that needs it
	// has it, or is being sent it. The transport may still borrow the body
	// (a frame in its queue, or the tail of a rendezvous whose receiver died
	// or has been served by another sender): that count is the driver's.
	Release
	// Acknowledge sends one record (Context, Seq, Single) to the process To.
	Acknowledge
	// Redirect pulls the rendezvous (Context, rank of To, Seq), which isn't
	// complete, from To, whose offer had the verdict Spare: its sender is dead.
	// What was said of Reoffer holds.
	Redirect
	// Tell sends the Note to the process To.
	Tell
	// Report sends Seq, how much the program has received, to the process To, a sibling.
	Report
	// Handover, at a donor: all have prepared. See AppendState.
	Handover
	// Abandoned, at a donor: the replacement died before AppendState, or the job is
	// ending. It must end if it hasn't.
	Abandoned
	// Healed, at a replacement: all live processes have welcomed it.
	Healed
)

// Action is one thing that the driver must do.
type Action struct {
	Kind    ActionKind
	Single  bool
	Note    NoteKind   // Tell
	To      proto.Proc // Transmit, Acknowledge, Redirect, Tell, Report
	Message *Message   // Transmit, Release

	// Of Acknowledge. Without Single: everything of the channel up to Seq has
	// arrived. With Single: the rendezvous with just this Seq is complete.
	// Redirect has them too. Of Report, Seq: how much the program has received.
	Context uint64
	Seq     uint64

	// Of Tell, Handover, Abandoned and Healed: the replacement. With Tell,
	// Context is the Note's Covers.
	Replacement proto.Proc
	Incarnation proto.Incarnation
}

// Actions is a caller-owned output to which the machine appends.
type Actions []Action

func (a *Actions) transmit(m *Message, to proto.Proc) {
	*a = append(*a, Action{Kind: Transmit, To: to, Message: m})
}

func (a *Actions) release(m *Message) {
	*a = append(*a, Action{Kind: Release, Message: m})
}

func (a *Actions) acknowledge(to proto.Proc, context, seq uint64, single bool) {
	*a = append(*a, Action{Kind: Acknowledge, To: to, Context: context, Seq: seq, Single: single})
}

func (a *Actions) redirect(to proto.Proc, context, seq uint64) {
	*a = append(*a, Action{Kind: Redirect, To: to, Context: context, Seq: seq})
}

func (a *Actions) tell(to proto.Proc, n Note) {
	*a = append(*a, Action{
		Kind: Tell, To: to, Note: n.Kind, Replacement: n.Replacement, Incarnation: n.Incarnation, Context: n.Covers,
	})
}

func (a *Actions) report(to proto.Proc, received uint64) {
	*a = append(*a, Action{Kind: Report, To: to, Seq: received})
}

func (a *Actions) healing(kind ActionKind, replacement proto.Proc, incarnation proto.Incarnation) {
	*a = append(*a, Action{Kind: kind, Replacement: replacement, Incarnation: incarnation})
}
