package binding

import "unsafe"

// WinAttach is MPI_Win_attach.
func (p *Process) WinAttach(win Win, base unsafe.Pointer, size int64) Code {
	const function = "MPI_Win_attach"
	w, code := p.dynamicWindow(function, win)
	switch {
	case code != Success:
		return code
	case size < 0:
		return p.fail(&w.communicator, function, ErrSize, "the size is %d", size)
	case size > 0 && (base == nil || special(base)):
		return p.fail(&w.communicator, function, ErrBase, "%d bytes at %p", size, base)
	}
	if err := w.rma.Attach(base, size); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// WinDetach is MPI_Win_detach.
func (p *Process) WinDetach(win Win, base unsafe.Pointer) Code {
	const function = "MPI_Win_detach"
	w, code := p.dynamicWindow(function, win)
	if code != Success {
		return code
	}
	if err := w.rma.Detach(base); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// dynamicWindow is the window of a handle, which must be one of MPI_Win_create_dynamic.
func (p *Process) dynamicWindow(function string, win Win) (*window, Code) {
	w := p.window(win)
	switch {
	case w == nil:
		return nil, p.noWin(function, win)
	case w.flavor != WinFlavorDynamic:
		return nil, p.fail(&w.communicator, function, ErrRmaFlavor, "the window wasn't made by MPI_Win_create_dynamic")
	}
	return w, Success
}
