package timeline

import "strings"

// class is what a kind of message is for; it says how the message looks.
type class int

const (
	dissemination class = iota
	correction
	acknowledgement
	other
	classes // how many there are
)

// A look is a class's name, the class of its elements, and its colours: of
// messages, and of a process that one of them has coloured.
type look struct{ name, css, colour, pale string }

// looks are by class. The colours are Okabe and Ito's.
var looks = [classes]look{
	dissemination:   {"dissemination", "d", "#0072b2", "#dcebf6"},
	correction:      {"correction", "c", "#d55e00", "#fbe4d3"},
	acknowledgement: {"acknowledgement", "a", "#009e73", "#d6efe7"},
	other:           {"other message", "o", "#a64d86", "#f3e1ec"},
}

// classOf knows the kinds of the broadcast's messages, which may have a number
// after a plus sign.
func classOf(kind string) class {
	base, _, _ := strings.Cut(kind, "+")
	switch base {
	case "tree", "gossip":
		return dissemination
	case "left", "right", "correction":
		return correction
	case "ack":
		return acknowledgement
	}
	return other
}
