package remote

import (
	"banyan/internal/job/control"
	"banyan/internal/proto"
)

// facts are what a process has said that holds until it ends. A launcher that takes over is told
// them again: the one before may have died before it had acted on them, or told anybody.
type facts []control.Message

// passing are messages of which the next launcher needs to know nothing.
var passing = map[control.Type]bool{control.View: true, control.Waits: true, control.Lost: true}

// note keeps a message, in place of an earlier one about the same.
func (f *facts) note(m control.Message) {
	if passing[m.Type] {
		return
	}
	about := func(x control.Message) fact { return fact{x.Type, x.Proc, x.Incarnation} }
	for i, x := range *f {
		if about(x) == about(m) {
			*f = append((*f)[:i], (*f)[i+1:]...)
			break
		}
	}
	*f = append(*f, m)
}

// fact is what a message is about.
type fact struct {
	control.Type
	proto.Proc
	proto.Incarnation
}
