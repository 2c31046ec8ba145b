package broadcast

import "fmt"

// Kind is the kind of a message. Corrections carry the side to which they were
// sent, since in a small ring a process can be met from both.
//
// The three low bits are one of the constants; the five above them are a small
// number that some variants add: the round of a gossip message, what the sender of a
// failure-proof correction knows, which generation that of an ordered one is of. So a message
// remains one byte.
type Kind uint8

const (
	KindTree   Kind = iota + 1
	KindLeft        // a correction sent to a lower position (round the ring)
	KindRight       // a correction sent to a higher position (round the ring)
	KindAck         // all at and below the sender have the message
	KindGossip      // dissemination without a tree
)

const (
	kindBits  = 3
	maxNumber = 1<<(8-kindBits) - 1
)

var kinds = [...]string{KindTree: "tree", KindLeft: "left", KindRight: "right", KindAck: "ack", KindGossip: "gossip"}

// Base is the kind without its number.
func (k Kind) Base() Kind { return k & (1<<kindBits - 1) }

func (k Kind) number() int { return int(k >> kindBits) }

func (k Kind) withNumber(n int) Kind { return k | Kind(n)<<kindBits }

func (k Kind) String() string {
	b := k.Base()
	switch {
	case b < KindTree || int(b) >= len(kinds):
		return fmt.Sprintf("kind %d", uint8(k))
	case k.number() > 0:
		return fmt.Sprintf("%s+%d", kinds[b], k.number())
	}
	return kinds[b]
}

// Payload says whether a message of this kind carries the broadcast's payload.
func (k Kind) Payload() bool { return k != KindAck }

// disseminates says whether a message of this kind belongs to dissemination.
func (k Kind) disseminates() bool { return k == KindTree || k.Base() == KindGossip }
