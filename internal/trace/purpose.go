package trace

import "strings"

// A Purpose is what a kind of message is for.
type Purpose uint8

const (
	Dissemination   Purpose = iota // to reach everyone
	Correction                     // to reach whom dissemination missed
	Acknowledgement                // to tell the sender
	Collection                     // to bring contributions to the root
	Message                        // what the program sends from rank to rank
	Other                          // a kind unknown here
	Purposes                       // how many there are
)

var purposes = [Purposes]string{"dissemination", "correction", "acknowledgement", "collection", "message", "other"}

func (p Purpose) String() string { return purposes[p] }

// PurposeOf knows the kinds of a broadcast's and a reduction's messages, and those of
// real runs. A kind may end in a number
// after a plus sign, which makes no difference.
func PurposeOf(kind string) Purpose {
	base, _, _ := strings.Cut(kind, "+")
	switch base {
	case "tree", "gossip", "mend":
		return Dissemination
	case "left", "right", "correction", "correction-offer", "copy":
		return Correction
	case "ack":
		return Acknowledgement
	case "part", "torn", "rest":
		return Collection
	case "eager", "offer", "pull", "data":
		return Message
	}
	return Other
}
