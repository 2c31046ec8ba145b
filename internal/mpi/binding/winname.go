package binding

// WinSetName is MPI_Win_set_name. A name that is too long is cut.
func (p *Process) WinSetName(win Win, winName *byte) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin("MPI_Win_set_name", win)
	}
	name := goString(winName)
	name = name[:min(len(name), MaxObjectName-1)]
	w.name.Store(&name)
	return Success
}

// WinGetName is MPI_Win_get_name.
func (p *Process) WinGetName(win Win, winName *byte, resultlen *int32) Code {
	w := p.window(win)
	if w == nil {
		if win == WinNull && p.live() {
			*resultlen = setString(winName, MaxObjectName, "MPI_WIN_NULL")
			return Success
		}
		return p.noWin("MPI_Win_get_name", win)
	}
	name := ""
	if n := w.name.Load(); n != nil {
		name = *n
	}
	*resultlen = setString(winName, MaxObjectName, name)
	return Success
}

// WinSetInfo is MPI_Win_set_info. Hints are stored; alloc_shared_noncontig counts only when the
// window is made.
func (p *Process) WinSetInfo(win Win, info Info) Code {
	const function = "MPI_Win_set_info"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	i := p.info(info)
	if i == nil {
		return p.noInfo(function, info)
	}
	w.info.Store(i.copy())
	return Success
}

// winHints are the hints that the standard knows, with what holds if the program says nothing.
// What it says of accumulates, sizes and units is a promise that this library doesn't need.
var winHints = []struct{ key, value string }{
	{"no_locks", "false"},
	{"accumulate_ordering", "rar,raw,war,waw"},
	{"accumulate_ops", "same_op_no_op"},
	{"mpi_accumulate_granularity", "0"},
	{"same_size", "false"},
	{"same_disp_unit", "false"},
}

// WinGetInfo is MPI_Win_get_info.
func (p *Process) WinGetInfo(win Win, infoUsed *Info) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin("MPI_Win_get_info", win)
	}
	i := w.info.Load().copy()
	for _, h := range winHints {
		if _, given := i.get(h.key); !given {
			i.set(h.key, h.value)
		}
	}
	if w.flavor == WinFlavorShared {
		apart := "false"
		if w.memory.Apart {
			apart = "true"
		}
		i.set("alloc_shared_noncontig", apart)
	}
	*infoUsed = Info(p.infos.add(i))
	return Success
}

// WinSetErrhandler is MPI_Win_set_errhandler.
func (p *Process) WinSetErrhandler(win Win, errhandler Errhandler) Code {
	const function = "MPI_Win_set_errhandler"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	e, code := p.handlerFor(kindWin, &w.communicator, function, errhandler)
	if e == nil {
		return code
	}
	w.errhandler.Store(e)
	return Success
}

// WinGetErrhandler is MPI_Win_get_errhandler.
func (p *Process) WinGetErrhandler(win Win, errhandler *Errhandler) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin("MPI_Win_get_errhandler", win)
	}
	*errhandler = p.refer(w.errhandler.Load())
	return Success
}

// WinCallErrhandler is MPI_Win_call_errhandler.
func (p *Process) WinCallErrhandler(win Win, errorcode int32) Code {
	w := p.window(win)
	if w == nil {
		return p.noWin("MPI_Win_call_errhandler", win)
	}
	return p.callErrhandler(&w.communicator, "MPI_Win_call_errhandler", errorcode)
}
