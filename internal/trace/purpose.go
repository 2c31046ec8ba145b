package trace

import "strings"

// A Purpose is what a kind of message is for.
type Purpose uint8

const (
	Dissemination   Purpose = iota // to reach everyone
	Correction                     // to reach whom dissemination missed
	Acknowledgement                // to tell the sender
	Other                          // a kind unknown here
	Purposes                       // how many there are
)

var purposes = [Purposes]string{"dissemination", "correction", "acknowledgement", "other"}

func (p Purpose) String() string { return purposes[p] }

// PurposeOf knows the kinds of a broadcast's messages. A kind may end in a number
// after a plus sign, which makes no difference.
func PurposeOf(kind string) Purpose {
	base, _, _ := strings.Cut(kind, "+")
	switch base {
	case "tree", "gossip":
		return Dissemination
	case "left", "right", "correction", "correction-offer":
		return Correction
	case "ack":
		return Acknowledgement
	}
	return Other
}
