package tool

// handle is a session's use of a performance variable.
type handle struct {
	of      *Performance
	started bool
	since   uint64 // what the variable was when it was started last
	sum     uint64 // until it was stopped last
}

// value is what the session sees.
func (h *handle) value(s *Sample) uint64 {
	now := h.of.Of(s)
	switch {
	case h.of.Class == Level:
		return now
	case h.started:
		return h.sum + now - h.since
	}
	return h.sum
}

// set gives the handle a value. It goes on from there if it was started.
func (h *handle) set(v uint64, s *Sample) { h.sum, h.since = v, h.of.Of(s) }

// OpenSession makes a session.
func (t *Interface) OpenSession() uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.number()
	t.sessions[n] = map[uintptr]*handle{}
	return n
}

// CloseSession frees a session and its handles.
func (t *Interface) CloseSession(session uintptr) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions[session] == nil {
		return ErrSession
	}
	delete(t.sessions, session)
	return nil
}

// Open makes a session's handle for a performance variable. A Level is started for good.
func (t *Interface) Open(session uintptr, index int) (uintptr, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	handles := t.sessions[session]
	if handles == nil {
		return 0, ErrSession
	}
	if index < 0 || index >= len(t.Performance) {
		return 0, ErrIndex
	}
	n := t.number()
	v := &t.Performance[index]
	handles[n] = &handle{of: v, started: v.Class == Level}
	return n, nil
}

// Close frees a handle.
func (t *Interface) Close(session, number uintptr) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sessions[session] == nil {
		return ErrSession
	}
	if t.sessions[session][number] == nil {
		return ErrHandle
	}
	delete(t.sessions[session], number)
	return nil
}

// Get reads a variable, and resets it if reset is set.
func (t *Interface) Get(session, number uintptr, reset bool) (v uint64, err error) {
	s := t.sample()
	err = t.each(session, number, false, func(h *handle) error {
		if reset && h.of.Class == Level {
			return ErrReadOnly
		}
		if v = h.value(&s); reset {
			h.set(0, &s)
		}
		return nil
	})
	return v, err
}

// Put writes a variable.
func (t *Interface) Put(session, number uintptr, v uint64) error {
	s := t.sample()
	return t.each(session, number, false, func(h *handle) error {
		if h.of.Class == Level {
			return ErrReadOnly
		}
		h.set(v, &s)
		return nil
	})
}

// Reset sets a variable, or all of a session that can be, to 0.
func (t *Interface) Reset(session, number uintptr) error {
	s := t.sample()
	return t.each(session, number, true, func(h *handle) error {
		if h.of.Class == Level {
			return ErrReadOnly
		}
		h.set(0, &s)
		return nil
	})
}

// Start starts a variable, or all of a session that can be.
func (t *Interface) Start(session, number uintptr) error { return t.turn(session, number, true) }

// Stop stops a variable, or all of a session that can be.
func (t *Interface) Stop(session, number uintptr) error { return t.turn(session, number, false) }

func (t *Interface) turn(session, number uintptr, on bool) error {
	s := t.sample()
	return t.each(session, number, true, func(h *handle) error {
		if h.of.Class == Level {
			return ErrContinuous
		}
		if h.started != on {
			h.set(h.value(&s), &s)
			h.started = on
		}
		return nil
	})
}

// each does something to a handle; where all is set, AllHandles stands for all for which it works.
func (t *Interface) each(session, number uintptr, all bool, do func(*handle) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	handles := t.sessions[session]
	if handles == nil {
		return ErrSession
	}
	if all && number == AllHandles {
		for _, h := range handles {
			_ = do(h) // those for which it doesn't work stay as they are, says the standard
		}
		return nil
	}
	h := handles[number]
	if h == nil {
		return ErrHandle
	}
	return do(h)
}
