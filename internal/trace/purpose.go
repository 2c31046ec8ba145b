package trace

import "strings"

// Purpose is the purpose of a kind of message.
type Purpose uint8

const (
	Dissemination   Purpose = iota // reaches processes by the tree or by gossip
	Correction                     // reaches processes that dissemination missed
	Acknowledgement                // tells the sender that a message has arrived
	Collection                     // brings contributions to the root
	Message                        // carries a message of the program from rank to rank
	Other                          // any other kind
	Purposes                       // the number of purposes
)

var purposes = [Purposes]string{"dissemination", "correction", "acknowledgement", "collection", "message", "other"}

func (p Purpose) String() string { return purposes[p] }

// PurposeOf is the purpose of a kind. It knows the kinds of broadcasts, reductions and real runs.
// It ignores a plus sign and a number at the end of a kind.
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
