package broadcast

import (
	"encoding/binary"
	"errors"

	"banyan/internal/proto"
	"banyan/internal/queue"
	"banyan/internal/topology"
)

// A Stream is one member's part in all broadcasts of a communicator. Members
// are numbered 0…Size-1, and broadcasts 1, 2, 3… in the order of the program,
// which is the same at all members. Each has its own root, and many may be under
// way at once.
//
// Each runs as a corrected tree of its own, with skip-ahead correction
// (Config, State): binomial and interleaved, or, where many large ones follow each
// other, a chain (Shape). The stream adds what the paper leaves
// out: recovery from deaths during it, and an end to what is kept. Members may be configured with
// another tree or gossip, and another correction (stream_named.go).
//
// # Colouring
//
// A coloured member passes the payload on along the tree at once. Members known to be gone are
// skipped: their children get it instead. CorrectAfter later it corrects its
// neighbours on the ring. It waits because by then it has mostly learnt that they
// need no correction, from frames of the same broadcast or from what they have said that they
// completed (Heard). Corrections go to the left only: the members below a dead
// member in the tree have higher positions, so one dead member never stands between
// them and the root, from which colour comes round the ring to the left.
//
// A payload larger than OfferAbove isn't worth sending where most have it, so along the
// ring it is only offered. An offer colours no member: one that isn't coloured PullDelay later, or
// knows that a member is gone, pulls the payload.
//
// When a member dies, its nearest live ancestor in the tree of each broadcast that isn't
// stable yet sends the payload to the members below it, or offers it if it is large.
//
// Every member keeps the payload until the broadcast is stable: all live members
// have completed it. So a member that misses it can pull it. A pull is sent once,
// over an ordered channel that loses nothing. Its receiver remembers it,
// and answers as soon as it can; so nothing is ever repeated in vain.
//
// Live root: every live member that starts a broadcast gets coloured, whatever
// other members die, whenever. If all its ancestors in the tree live on, the tree
// brings the payload. If one dies, the member learns of it (the detector is
// complete), and PullDelay later pulls: from one that offered and so has the
// payload, or else from the root. If that one dies first, it turns to the next.
// The root does not die, and answers at the latest when it has started.
//
// Dead root: every live member that starts a broadcast gets coloured, or all fail it. Members that
// miss the payload ask all others in turn. A member that has it answers with it. One that hasn't
// answers Missing, but only if it knows exactly the same members to be gone as the member that asks
// (the root among them), and it drops frames of those from then on. Otherwise the answer waits; all
// learn of all deaths in the end. Let x be a member that misses the payload. When x learns of
// another death it asks all anew. So x fails the broadcast when, for one set D of those gone, every
// member not in D has answered Missing knowing D. Suppose one of them is coloured nevertheless, and
// let z be the first, by a frame of w. Then w isn't in D, or z would have dropped the frame. If w
// was coloured before it answered x, it answered with the payload, and x did not fail. If after, z
// wasn't the first. So if one member fails it, no live member ever has it.
//
// # Room
//
// A root starts number s only if all live members have completed s-Window: are
// coloured and have started it, or failed it. It asks them when half of the
// window is used up, and they answer when they get there. All frames carry the
// newest number known to be stable, so the next root, if another, knows it too. No member waits for
// a dead one. So a member keeps at most Window payloads, and
// 2·Window slots suffice for every number that any member can speak of: a member that starts
// number s first asks for s-2·Window to be stable.
//
// # Invariants
//
//   - stable ≤ completed ≤ started. Slots hold numbers in
//     (stable, stable+2·Window] only, payloads in (stable, stable+Window].
//   - Coloured or Failed comes once for each number started, never both.
//   - A payload that was handed in is handed back once, by Recycle.
//
// # Limits
//
// All of it relies on the detector: it tells every live member of every death, and
// a member that it calls dead is dead or heard no more (fenced).
//
// Colouring costs O(log Size) sends per member, a root's question for room
// O(Size) once every Window/2 numbers. A broadcast that fails costs each member
// that waits up to Size questions, one after the other.
type Stream struct {
	cfg   StreamConfig
	trees [shapes]Config // what all members know in advance
	slots []slot         // 2·Window; number s is in slots[s mod 2·Window]

	started   uint64             // numbers that the program has asked for
	completed uint64             // all numbers up to it are handed up
	stable    uint64             // all live members have completed the numbers up to it
	later     queue.Queue[int32] // roots of started numbers that have no slot yet

	members []peer
	gone    int    // how many are gone
	digest  uint64 // of the set of those gone

	others      uint64 // all live members but this have completed the numbers up to it
	need        uint64 // this member wants it to be stable
	asked       uint64 // the last question for room was for this
	wishes      int    // members that wait for an answer for room
	tasks       queue.Queue[task]
	uncorrected queue.Queue[uncorrected] // coloured here, and sent along the tree
	lingering   queue.Queue[uncorrected] // of them, those that wait for a neighbour first
	deadline    proto.Time               // not later than any slot's pullAt

	digestBytes [digestSize]byte // payload of pulls and their denials
}

// peer is what the stream knows of a member.
type peer struct {
	gone     bool
	digest   uint64 // of its set of those gone, when it pulled last
	reported uint64 // it has completed all numbers up to it
	wish     uint64 // it wants to hear when this member has completed it
}

// StreamConfig identifies the member.
type StreamConfig struct {
	Self, Size int
	// PullDelay is how long a member that knows of a death, or has an offer,
	// waits before it pulls.
	PullDelay proto.Time
	// Window is how many broadcasts may be under way, at least 2, or 0 for
	// DefaultWindow. All members must have the same.
	Window int
	// OfferAbove is the largest payload in bytes that corrections carry, or
	// 0 for DefaultOfferAbove.
	OfferAbove int
	// Distance is how many neighbours on its left a member corrects, or 0
	// for DefaultDistance.
	Distance int
	// CorrectAfter is how long after it has passed a payload on a member waits before
	// it corrects.
	CorrectAfter proto.Time
	// Scheme is what broadcasts of the shape Named are, if it is named. All members must have
	// the same.
	Scheme Scheme
}

// Defaults of a StreamConfig.
const (
	DefaultWindow     = 64
	DefaultOfferAbove = 2048
	// DefaultDistance covers any two deaths that no member knows of yet. More
	// would cost a message per member and broadcast each; see docs/design/broadcast.md.
	DefaultDistance = 2
)

// NewStream makes the stream of a member at which nothing has happened yet.
func NewStream(cfg StreamConfig) *Stream {
	if cfg.Window == 0 {
		cfg.Window = DefaultWindow
	}
	if cfg.OfferAbove == 0 {
		cfg.OfferAbove = DefaultOfferAbove
	}
	if cfg.Distance == 0 {
		cfg.Distance = DefaultDistance
	}
	s := &Stream{
		cfg:      cfg,
		slots:    make([]slot, 2*cfg.Window),
		members:  make([]peer, cfg.Size),
		deadline: proto.Never,
	}
	binomial, err := topology.Binomial(cfg.Size, topology.Interleaved)
	chain, err2 := topology.KAry(cfg.Size, 1, topology.Interleaved)
	star, err3 := topology.KAry(cfg.Size, max(1, cfg.Size-1), topology.Interleaved)
	if err := errors.Join(err, err2, err3); err != nil {
		panic(err)
	}
	for shape, tree := range [...]topology.Tree{Shallow: binomial, Chain: chain, Star: star} {
		s.trees[shape] = Config{
			Tree: tree, Correction: SkipAhead,
			Unequal: true, LeftDistance: min(cfg.Distance, max(1, cfg.Size-1)),
		}
	}
	s.trees[Star].Correction = NoCorrection
	if cfg.Scheme.Named() {
		if s.trees[Named], err = cfg.Scheme.Config(cfg.Size); err != nil {
			panic(err)
		}
	}
	s.findLowest()
	return s
}

// MayStart tells whether this member may Start the next broadcast as its root.
// If not, it asks the others for room; the answer may change with any call.
func (s *Stream) MayStart() bool {
	next := s.started + 1
	if s.later.Len() == 0 && next <= s.stable+s.window() {
		return true
	}
	s.wantStable(next - s.window()/2)
	return false
}

// Start takes part in the next broadcast and returns its number: as the root, with the payload,
// if MayStart; else as a receiver. If members disagree on the root, the first one that a member
// hears of counts there.
func (s *Stream) Start(now proto.Time, root int, payload []byte, out *StreamActions) (number uint64) {
	return s.StartAs(now, root, Shallow, payload, out)
}

// StartAs is Start with another shape than Shallow. Only the root's counts.
func (s *Stream) StartAs(now proto.Time, root int, shape Shape, payload []byte, out *StreamActions) (number uint64) {
	if root == s.cfg.Self && !s.MayStart() {
		panic("broadcast: a root started without room")
	}
	s.started++
	number = s.started
	if s.later.Len() > 0 || number > s.stable+uint64(len(s.slots)) {
		s.later.Push(int32(root))
		s.wantStable(number - uint64(len(s.slots)))
		return number
	}
	s.begin(now, number, root, shape, payload, out)
	s.settle(now, out)
	if half := s.window() / 2; root == s.cfg.Self && number > half {
		s.wantStable(number - half)
	}
	return number
}

// Receive takes a frame from a member. Its payload passes to the stream.
func (s *Stream) Receive(now proto.Time, from int, f Frame, out *StreamActions) {
	if from == s.cfg.Self || s.members[from].gone || uint(f.Root) >= uint(s.cfg.Size) || f.Shape >= Named && !s.sensible(&f) {
		recycle(f.Payload, out)
		return
	}
	s.others = max(s.others, s.impliedStable(&f))
	s.settle(now, out)
	s.take(now, from, &f, out)
	s.settle(now, out)
}

// take handles a frame of a live member.
func (s *Stream) take(now proto.Time, from int, f *Frame, out *StreamActions) {
	if f.Kind == FrameReport {
		s.reported(from, f)
		recycle(f.Payload, out)
		return
	}
	if f.Number <= s.stable || f.Number > s.stable+uint64(len(s.slots)) {
		// Completed by all, or (above) impossible from a correct member.
		recycle(f.Payload, out)
		return
	}
	sl := s.slot(f.Number, f.Root)
	if sl.root != f.Root {
		recycle(f.Payload, out)
		return
	}
	switch f.Kind {
	case FrameTree, FrameCorrection:
		s.relayed(sl, from, f)
		if sl.state == waiting {
			s.colour(sl, f.Payload, out)
			return
		}
	case FrameOffer:
		s.relayed(sl, from, f)
		s.offered(now, sl, from)
	case FramePull:
		if digest, ok := readDigest(f.Payload); ok {
			s.members[from].digest = digest
			s.pulled(sl, from)
		}
	case FrameMissing:
		if digest, ok := readDigest(f.Payload); ok && digest == s.digest {
			s.missing(sl, from, out)
		}
	}
	recycle(f.Payload, out)
}

// Dead takes the news that a member died.
func (s *Stream) Dead(now proto.Time, member int, out *StreamActions) {
	s.drop(now, member, out)
}

// Left takes the news that a member left. It has completed all that there is,
// and like one that died it answers nothing any more.
func (s *Stream) Left(now proto.Time, member int, out *StreamActions) {
	s.drop(now, member, out)
}

// Heard takes the word of a member that it has completed all broadcasts up to a
// number, which came along with something else.
func (s *Stream) Heard(now proto.Time, from int, number uint64, out *StreamActions) {
	if number > s.members[from].reported {
		s.report(from, number)
		s.settle(now, out)
	}
}

// Started is the number of the last broadcast that this member's program has asked for.
func (s *Stream) Started() uint64 { return s.started }

// Completed is up to which number all broadcasts are handed up here.
func (s *Stream) Completed() uint64 { return s.completed }

// Ahead tells whether anything has come of a broadcast that this member hasn't started.
func (s *Stream) Ahead() bool {
	for i := range s.slots {
		if s.slots[i].number > s.started {
			return true
		}
	}
	return false
}

// Deadline is when Tick and then SendReady have to be called next. It may be early.
func (s *Stream) Deadline() proto.Time {
	deadline := s.deadline
	if s.uncorrected.Len() > 0 {
		deadline = min(deadline, s.uncorrected.Front().due)
	}
	if s.lingering.Len() > 0 {
		deadline = min(deadline, s.lingering.Front().due)
	}
	return deadline
}

// Tick lets time pass.
func (s *Stream) Tick(now proto.Time, out *StreamActions) {
	if now < s.deadline {
		return
	}
	s.deadline = proto.Never
	for i := range s.slots {
		sl := &s.slots[i]
		if sl.number == 0 || sl.state != waiting {
			continue
		}
		if sl.pullAt <= now {
			s.pull(sl, out)
		}
		s.deadline = min(s.deadline, sl.pullAt)
	}
	s.settle(now, out)
}

// Idle tells whether this member has nothing to send, now or later, as long as
// nothing happens.
func (s *Stream) Idle() bool { return s.tasks.Len()+s.uncorrected.Len()+s.lingering.Len() == 0 }

// Owes tells whether SendReady has something to send that isn't a correction: it
// needn't wait until what has arrived was received.
func (s *Stream) Owes() bool { return s.tasks.Len() > 0 }

// relayed notes a frame that brings or offers a payload: its sender has it. Where
// it isn't the tree's, nor an answer to a pull, it was sent to this side of the ring.
func (s *Stream) relayed(sl *slot, from int, f *Frame) {
	if sl.state == waiting && sl.holders.none() {
		s.shape(sl, f.Shape)
	}
	sl.holders.add(from)
	if sl.shape == Named {
		s.step(sl, from, f)
		return
	}
	kind := KindTree
	if f.Kind != FrameTree {
		kind = KindLeft
	}
	s.tree(sl).Receive(&sl.relay, s.position(sl, from), kind)
}

// tree is the corrected tree of a broadcast.
func (s *Stream) tree(sl *slot) *Config { return &s.trees[sl.shape] }

func (s *Stream) window() uint64 { return uint64(s.cfg.Window) }

func (s *Stream) send(to int, f Frame, out *StreamActions) {
	f.Stable = s.stable
	*out = append(*out, StreamAction{Kind: SendFrame, To: to, Frame: f})
}

func recycle(payload []byte, out *StreamActions) {
	if payload != nil {
		*out = append(*out, StreamAction{Kind: Recycle, Frame: Frame{Payload: payload}})
	}
}

const digestSize = 8

func readDigest(payload []byte) (uint64, bool) {
	if len(payload) != digestSize {
		return 0, false
	}
	return binary.LittleEndian.Uint64(payload), true
}
