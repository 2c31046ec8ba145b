package broadcast

// Shape is the tree of a broadcast. Its root chooses.
type Shape uint8

// The shapes of trees.
const (
	// Shallow is the binomial tree, interleaved: it takes the fewest steps.
	Shallow Shape = iota
	// Chain lets every member send to one other: it brings most through where
	// many payloads follow each other.
	Chain
	// Star lets the root send to all, for members that share cores: it takes one turn of all of
	// them. No member is between the root and another, so none corrects; if the root
	// dies, a member that has the payload is asked for it, as always.
	Star
	// Named is the tree, or gossip, and the correction that the members were configured with
	// (StreamConfig.Scheme).
	Named

	shapes = 4
)

// FrameKind is what a frame is for, in the order of the wire's kinds.
type FrameKind uint8

// Kinds of frames.
const (
	// FrameTree carries a payload along the tree.
	FrameTree FrameKind = iota
	// FrameCorrection carries a payload along the ring, or answers a pull.
	FrameCorrection
	// FrameOffer is a correction without its payload.
	FrameOffer
	// FramePull asks for a payload. Its own payload is a digest of the
	// members known to be gone.
	FramePull
	// FrameMissing denies a pull: the payload isn't here, and the root and
	// exactly those in the digest are gone.
	FrameMissing
	// FrameReport is a question for room if the sender is the Root: have you
	// completed all broadcasts up to Number? To the Root it is the answer: yes,
	// all up to Number.
	FrameReport
)

// Frame is a message between members of a stream.
type Frame struct {
	Kind   FrameKind
	Number uint64
	Root   int
	// Stable is a number that all live members have completed. A driver may
	// leave it out (0): it saves questions for room when roots change.
	Stable uint64
	Shape  Shape // of the broadcast's tree, of frames that bring or offer its payload
	// Step is the message of the Named scheme's machine that such a frame is, or 0 if the machine
	// didn't ask for it: the answer to a pull, the offer to those below a dead member. With the
	// other shapes the kind of the frame says all.
	Step    Kind
	Payload []byte
}

// StreamActionKind says what the driver is to do.
type StreamActionKind uint8

// Kinds of actions.
const (
	// SendFrame sends Frame to the member To. The payload stays the stream's,
	// and is valid until the next action.
	SendFrame StreamActionKind = iota
	// Coloured brings the payload of a number that the program has started,
	// at the root too. The payload stays the stream's, and is valid until the
	// next action.
	Coloured
	// Failed says that a number that the program has started can't come
	// any more: its root To is gone and no live member has the payload.
	Failed
	// Recycle hands Frame.Payload back.
	Recycle
)

// StreamAction is one thing to do.
type StreamAction struct {
	Kind  StreamActionKind
	To    int
	Frame Frame
}

// StreamActions is what calls append to; the caller owns and empties it.
type StreamActions []StreamAction
