package cells

// Progress is what a member keeps from call to call. It is a part of the machine, and C's, too:
// where nothing has to be decided, C makes a call's accesses itself, in the machine's order, and
// where it can't go on it leaves the rest to the machine (capi/commons.c). Only one of the two uses
// it at a time.
type Progress struct {
	call  uint64           // the number of the call that was begun last
	floor uint64           // all live members have completed the calls up to here
	stage uint64           // what C has done of the next call
	words [MaxDepth]uint64 // of this member's cells, as it left them
}

// The stages. C begins calls in stage Fresh only.
const (
	Fresh uint64 = iota // nothing
	Given               // this member has published
	Taken               // and has taken all that it takes: it hasn't looked whom to wake
	Busy                // the machine is within a call, or may begin no other one
)

// resume is what C has done of the call that begins now.
func (m *Machine) resume() uint64 {
	stage := m.stage
	m.stage = Busy
	return stage
}

// Leave says that nobody asks for the outcome any more: C may begin the next call, unless this one
// was given up, or was the last.
func (m *Machine) Leave() {
	if m.at == End && m.outcome != Fenced && m.outcome != Undecided {
		m.stage = Fresh
	}
}
