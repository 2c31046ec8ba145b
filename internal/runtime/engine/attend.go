package engine

// streamPolls is how many polls in vain, in a row, a thread that stops waiting makes for data that
// others have asked of it, or it of them: some ten microseconds, in which the other end takes a
// turn.
//
// streamTurns is how many polls it makes that move something: those of some megabytes.
const (
	streamPolls = 200
	streamTurns = 256
)

// attend and leave enclose what a thread does that waits in the end. Large data between two
// processes that attend goes through the ring (process.Attend), also where they share cores: a
// ringful is a turn of each, and takes less than the kernel's search for the pages of as much
// memory (decision 107). Replicas read. The lock is held.
func (e *Engine) attend() {
	if e.attends {
		e.p.Attend()
	}
}

func (e *Engine) leave() {
	if !e.attends {
		return
	}
	for turns, vain := 0, 0; turns < streamTurns && vain < streamPolls && e.p.Streams() && !e.closed; {
		if e.step() > 0 {
			turns, vain = turns+1, 0
		} else {
			vain++
		}
		if !e.linger(vain) {
			break
		}
	}
	e.p.Leave()
}
