package binding

import "unsafe"

// WinCreateKeyval is MPI_Win_create_keyval.
func (p *Process) WinCreateKeyval(winCopyAttrFn, winDeleteAttrFn uintptr, winKeyval *int32, extraState uintptr) Code {
	*winKeyval = p.keyvals.create(kindWin, winCopyAttrFn, winDeleteAttrFn, extraState)
	return Success
}

// WinFreeKeyval is MPI_Win_free_keyval.
func (p *Process) WinFreeKeyval(winKeyval *int32) Code {
	return p.freeKeyval("MPI_Win_free_keyval", kindWin, winKeyval)
}

// predefinedValue is the value of a window's predefined attribute, as MPI_Win_get_attr gives it:
// the base itself, and the addresses of the others. It is nil for other keys.
func (w *window) predefinedValue(key int32) (value unsafe.Pointer, is bool) {
	switch key {
	case WinBase:
		return w.base(), true
	case WinSize:
		return unsafe.Pointer(&w.values.size), true
	case WinDispUnit:
		return unsafe.Pointer(&w.values.unit), true
	case WinCreateFlavor:
		return unsafe.Pointer(&w.values.flavor), true
	case WinModel:
		return unsafe.Pointer(&w.values.model), true
	}
	return nil, false
}

// noWinKey is the error of a key that isn't one of a window.
func (p *Process) noWinKey(w *window, function string, number int32) Code {
	if _, is := w.predefinedValue(number); is {
		return p.fail(&w.communicator, function, ErrKeyval, "attribute %d is predefined and can't be changed", number)
	}
	return p.fail(&w.communicator, function, ErrKeyval, "%d is no attribute key for such objects", number)
}

// WinSetAttr is MPI_Win_set_attr.
func (p *Process) WinSetAttr(win Win, winKeyval int32, attributeVal uintptr) Code {
	const function = "MPI_Win_set_attr"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	key := p.keyvals.find(kindWin, winKeyval)
	if key == nil {
		return p.noWinKey(w, function, winKeyval)
	}
	if code := p.setAttribute(&w.attributes, uintptr(win), key, attributeVal); code != Success {
		return p.callbackFailed(&w.communicator, function, "delete", code)
	}
	return Success
}

// WinGetAttr is MPI_Win_get_attr.
func (p *Process) WinGetAttr(win Win, winKeyval int32, attributeVal unsafe.Pointer, flag *int32) Code {
	const function = "MPI_Win_get_attr"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if attributeVal == nil || flag == nil {
		return p.fail(&w.communicator, function, ErrArg, "an argument for a result is NULL")
	}
	if value, is := w.predefinedValue(winKeyval); is {
		*(*unsafe.Pointer)(attributeVal) = value
		*flag = 1
		return Success
	}
	e, found := w.attributes.get(winKeyval)
	if !found && p.keyvals.find(kindWin, winKeyval) == nil {
		return p.noWinKey(w, function, winKeyval)
	}
	if *flag = truth(found); found {
		*(*uintptr)(attributeVal) = e.value
	}
	return Success
}

// WinDeleteAttr is MPI_Win_delete_attr.
func (p *Process) WinDeleteAttr(win Win, winKeyval int32) Code {
	const function = "MPI_Win_delete_attr"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if _, found := w.attributes.get(winKeyval); !found {
		return p.noWinKey(w, function, winKeyval)
	}
	if code := p.deleteAttribute(&w.attributes, uintptr(win), winKeyval); code != Success {
		return p.callbackFailed(&w.communicator, function, "delete", code)
	}
	return Success
}
