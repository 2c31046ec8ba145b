package engine

// streamPolls is how many polls in vain a thread that stops waiting makes for data that others have
// asked of it, or it of them: some ten microseconds, in which the other end takes a turn.
const streamPolls = 200

// attend and leave enclose what a thread does that waits in the end. Large data between two
// processes that attend goes through the ring (process.Attend). Where processes share cores one of
// the two may not run. The lock is held.
func (e *Engine) attend() {
	if !e.cfg.Oversubscribed {
		e.p.Attend()
	}
}

func (e *Engine) leave() {
	if e.cfg.Oversubscribed {
		return
	}
	e.p.Leave()
	for vain := 0; vain < streamPolls && e.p.Streams() && !e.closed; vain++ {
		if e.step() > 0 {
			vain = 0
		}
		if e.mu.Wanted() {
			e.mu.Unlock()
			yield()
			e.lock()
		}
	}
}
