package timeline

import "banyan/internal/trace"

// A look is the CSS class of messages for one purpose, with two colours: of the messages, and of a
// process that one of them has coloured.
type look struct{ css, colour, pale string }

// looks are by purpose. The colours are Okabe and Ito's.
var looks = [trace.Purposes]look{
	trace.Dissemination:   {"d", "#0072b2", "#dcebf6"},
	trace.Correction:      {"c", "#d55e00", "#fbe4d3"},
	trace.Acknowledgement: {"a", "#009e73", "#d6efe7"},
	trace.Collection:      {"g", "#56b4e9", "#e2f2fc"},
	trace.Message:         {"m", "#333333", "#e6e6e6"},
	trace.Other:           {"o", "#cc79a7", "#f3e1ec"},
}
