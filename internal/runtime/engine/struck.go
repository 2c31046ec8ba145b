package engine

// Faults of a job whose processes are goroutines (join.Local): there is no process to kill or to
// stop. They strike before a message is sent (Config.BeforeSend), with the lock held, or at a time.

// Strike ends the engine at once and tells nobody, from within BeforeSend: the message isn't sent,
// and all calls return process.ErrClosed. It returns while the rest is being done.
func (e *Engine) Strike() {
	if e.closed {
		return
	}
	e.shut()
	go func() {
		e.lock()
		e.endClosed()
	}()
}

// Freeze has the engine do nothing, not even send heartbeats, until thaw is closed.
func (e *Engine) Freeze(thaw <-chan struct{}) {
	e.mu.Lock()
	<-thaw
	e.mu.Unlock()
}
