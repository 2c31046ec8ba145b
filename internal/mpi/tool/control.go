package tool

// OpenControl makes a handle for a control variable.
func (t *Interface) OpenControl(index int) (handle uintptr, c *Control, err error) {
	if index < 0 || index >= len(t.Controls) {
		return 0, nil, ErrIndex
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.number()
	t.controls[h] = &t.Controls[index]
	return h, t.controls[h], nil
}

// CloseControl frees the handle.
func (t *Interface) CloseControl(handle uintptr) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.controls[handle] == nil {
		return ErrHandle
	}
	delete(t.controls, handle)
	return nil
}

// Control is the variable of a handle.
func (t *Interface) Control(handle uintptr) (*Control, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.controls[handle]; c != nil {
		return c, nil
	}
	return nil, ErrHandle
}

// Set writes a control variable.
func (t *Interface) Set(c *Control, v Value) error {
	if c.Write == nil {
		return ErrNever
	}
	if t.fixed() {
		return ErrNotNow
	}
	return c.Write(v)
}
