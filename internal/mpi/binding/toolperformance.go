package binding

import (
	"slices"
	"unsafe"

	"banyan/internal/mpi/tool"
)

// TPvarGetNum is MPI_T_pvar_get_num.
func (p *Process) TPvarGetNum(numPvar *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		put(numPvar, int32(len(t.Performance)))
		return nil
	})
}

// TPvarGetInfo is MPI_T_pvar_get_info.
func (p *Process) TPvarGetInfo(pvarIndex int32, name *byte, nameLen, verbosity, varClass *int32, datatype *Datatype, enumtype *uintptr, desc *byte, descLen, bind, readonly, continuous, atomic *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		v, err := element(t.Performance, pvarIndex)
		if err != nil {
			return err
		}
		putText(name, nameLen, v.Name)
		putText(desc, descLen, v.Description)
		put(verbosity, int32(v.Verbosity))
		put(varClass, int32(v.Class))
		put(datatype, TypeUnsignedLongLong)
		put(enumtype, 0)
		put(bind, bindNoObject)
		put(readonly, truth(v.Class == tool.Level))
		put(continuous, truth(v.Class == tool.Level))
		put(atomic, 1)
		return nil
	})
}

// TPvarGetIndex is MPI_T_pvar_get_index.
func (p *Process) TPvarGetIndex(name *byte, varClass int32, pvarIndex *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		return putIndex(pvarIndex, slices.IndexFunc(t.Performance, func(v tool.Performance) bool {
			return v.Name == goString(name) && int32(v.Class) == varClass
		}))
	})
}

// TPvarSessionCreate is MPI_T_pvar_session_create.
func (p *Process) TPvarSessionCreate(session *uintptr) Code {
	return p.withTool(func(t *tool.Interface) error {
		if session == nil {
			return tool.ErrValue
		}
		*session = t.OpenSession()
		return nil
	})
}

// TPvarSessionFree is MPI_T_pvar_session_free.
func (p *Process) TPvarSessionFree(session *uintptr) Code {
	return p.withTool(func(t *tool.Interface) error {
		if session == nil {
			return tool.ErrValue
		}
		if err := t.CloseSession(*session); err != nil {
			return err
		}
		*session = 0
		return nil
	})
}

// TPvarHandleAlloc is MPI_T_pvar_handle_alloc.
func (p *Process) TPvarHandleAlloc(session uintptr, pvarIndex int32, objHandle unsafe.Pointer, handle *uintptr, count *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		if handle == nil {
			return tool.ErrValue
		}
		h, err := t.Open(session, int(pvarIndex))
		if err != nil {
			return err
		}
		*handle = h
		put(count, 1)
		return nil
	})
}

// TPvarHandleFree is MPI_T_pvar_handle_free.
func (p *Process) TPvarHandleFree(session uintptr, handle *uintptr) Code {
	return p.withTool(func(t *tool.Interface) error {
		if handle == nil {
			return tool.ErrValue
		}
		if err := t.Close(session, *handle); err != nil {
			return err
		}
		*handle = 0
		return nil
	})
}

// TPvarStart is MPI_T_pvar_start.
func (p *Process) TPvarStart(session, handle uintptr) Code {
	return p.withTool(func(t *tool.Interface) error { return t.Start(session, handle) })
}

// TPvarStop is MPI_T_pvar_stop.
func (p *Process) TPvarStop(session, handle uintptr) Code {
	return p.withTool(func(t *tool.Interface) error { return t.Stop(session, handle) })
}

// TPvarRead is MPI_T_pvar_read.
func (p *Process) TPvarRead(session, handle uintptr, buf unsafe.Pointer) Code {
	return p.readPerformance(session, handle, buf, false)
}

// TPvarReadreset is MPI_T_pvar_readreset.
func (p *Process) TPvarReadreset(session, handle uintptr, buf unsafe.Pointer) Code {
	return p.readPerformance(session, handle, buf, true)
}

func (p *Process) readPerformance(session, handle uintptr, buf unsafe.Pointer, reset bool) Code {
	return p.withTool(func(t *tool.Interface) error {
		v, err := t.Get(session, handle, reset)
		if err == nil {
			*(*uint64)(buf) = v
		}
		return err
	})
}

// TPvarWrite is MPI_T_pvar_write.
func (p *Process) TPvarWrite(session, handle uintptr, buf unsafe.Pointer) Code {
	return p.withTool(func(t *tool.Interface) error { return t.Put(session, handle, *(*uint64)(buf)) })
}

// TPvarReset is MPI_T_pvar_reset.
func (p *Process) TPvarReset(session, handle uintptr) Code {
	return p.withTool(func(t *tool.Interface) error { return t.Reset(session, handle) })
}
