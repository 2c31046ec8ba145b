package binding

import (
	"math"
	"slices"
	"unsafe"

	"banyan/internal/mpi/tool"
)

// sourceOrdered is MPI_T_SOURCE_ORDERED.
const sourceOrdered = 1

// TSourceGetNum is MPI_T_source_get_num.
func (p *Process) TSourceGetNum(numSources *int32) Code {
	return p.withTool(func(*tool.Interface) error {
		put(numSources, 1)
		return nil
	})
}

// TSourceGetInfo is MPI_T_source_get_info.
func (p *Process) TSourceGetInfo(sourceIndex int32, name *byte, nameLen *int32, desc *byte, descLen, ordering *int32, ticksPerSecond, maxTicks *int64, info *Info) Code {
	return p.withTool(func(*tool.Interface) error {
		if sourceIndex != 0 {
			return tool.ErrIndex
		}
		putText(name, nameLen, "job")
		putText(desc, descLen, "what this process hears of the job, in nanoseconds since the process began")
		put(ordering, sourceOrdered)
		put(ticksPerSecond, tool.Ticks)
		put(maxTicks, math.MaxInt64)
		p.putInfo(info)
		return nil
	})
}

// putInfo stores an empty info object, which the tool frees.
func (p *Process) putInfo(to *Info) {
	if to != nil {
		*to = Info(p.infos.add(&info{}))
	}
}

// TSourceGetTimestamp is MPI_T_source_get_timestamp.
func (p *Process) TSourceGetTimestamp(sourceIndex int32, timestamp *int64) Code {
	return p.withTool(func(*tool.Interface) error {
		if sourceIndex != 0 {
			return tool.ErrIndex
		}
		put(timestamp, tool.Now())
		return nil
	})
}

// TEventGetNum is MPI_T_event_get_num.
func (p *Process) TEventGetNum(numEvents *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		put(numEvents, int32(len(t.Events)))
		return nil
	})
}

// TEventGetInfo is MPI_T_event_get_info. The tool says in numElements for how many elements it has
// room.
func (p *Process) TEventGetInfo(eventIndex int32, name *byte, nameLen, verbosity *int32, arrayOfDatatypes *Datatype, arrayOfDisplacements *int64, numElements *int32, enumtype *uintptr, info *Info, desc *byte, descLen, bind *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		e, err := element(t.Events, eventIndex)
		if err != nil {
			return err
		}
		putText(name, nameLen, e.Name)
		putText(desc, descLen, e.Description)
		put(verbosity, int32(e.Verbosity))
		put(enumtype, 0)
		put(bind, bindNoObject)
		p.putInfo(info)
		if numElements == nil {
			return nil
		}
		for i := range min(len(e.Elements), int(max(0, *numElements))) {
			if arrayOfDatatypes != nil {
				array(arrayOfDatatypes, *numElements)[i] = TypeInt
			}
			if arrayOfDisplacements != nil {
				array(arrayOfDisplacements, *numElements)[i] = int64(4 * i)
			}
		}
		*numElements = int32(len(e.Elements))
		return nil
	})
}

// TEventGetIndex is MPI_T_event_get_index.
func (p *Process) TEventGetIndex(name *byte, eventIndex *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		return putIndex(eventIndex, slices.IndexFunc(t.Events, func(e tool.EventType) bool { return e.Name == goString(name) }))
	})
}

// TEventHandleAlloc is MPI_T_event_handle_alloc.
func (p *Process) TEventHandleAlloc(eventIndex int32, objHandle unsafe.Pointer, info Info, eventRegistration *uintptr) Code {
	return p.withTool(func(t *tool.Interface) (err error) {
		if eventRegistration == nil {
			return tool.ErrValue
		}
		*eventRegistration, err = t.Register(int(eventIndex))
		return err
	})
}

// TEventHandleFree is MPI_T_event_handle_free.
func (p *Process) TEventHandleFree(eventRegistration, userData, freeCbFunction uintptr) Code {
	return p.withTool(func(t *tool.Interface) error {
		var done func()
		if freeCbFunction != 0 {
			done = func() {
				p.host.EventFreed(freeCbFunction, eventRegistration, int32(tool.RequireThreadSafe), userData)
			}
		}
		return t.Unregister(eventRegistration, done)
	})
}

// TEventHandleSetInfo is MPI_T_event_handle_set_info: no key means anything here.
func (p *Process) TEventHandleSetInfo(eventRegistration uintptr, info Info) Code {
	return p.withTool(func(t *tool.Interface) error { return t.Registered(eventRegistration) })
}

// TEventHandleGetInfo is MPI_T_event_handle_get_info.
func (p *Process) TEventHandleGetInfo(eventRegistration uintptr, infoUsed *Info) Code {
	return p.withTool(func(t *tool.Interface) error {
		if err := t.Registered(eventRegistration); err != nil {
			return err
		}
		p.putInfo(infoUsed)
		return nil
	})
}

// TEventRegisterCallback is MPI_T_event_register_callback.
func (p *Process) TEventRegisterCallback(eventRegistration uintptr, cbSafety int32, info Info, userData, eventCbFunction uintptr) Code {
	return p.withTool(func(t *tool.Interface) error {
		if eventCbFunction == 0 {
			return t.Call(eventRegistration, tool.Safety(cbSafety), nil)
		}
		return t.Call(eventRegistration, tool.Safety(cbSafety), func(instance, registration uintptr) {
			p.host.EventHappened(eventCbFunction, instance, registration, int32(tool.RequireThreadSafe), userData)
		})
	})
}

// TEventCallbackSetInfo is MPI_T_event_callback_set_info: no key means anything here.
func (p *Process) TEventCallbackSetInfo(eventRegistration uintptr, cbSafety int32, info Info) Code {
	return p.TEventHandleSetInfo(eventRegistration, info)
}

// TEventCallbackGetInfo is MPI_T_event_callback_get_info.
func (p *Process) TEventCallbackGetInfo(eventRegistration uintptr, cbSafety int32, infoUsed *Info) Code {
	return p.TEventHandleGetInfo(eventRegistration, infoUsed)
}

// TEventSetDroppedHandler is MPI_T_event_set_dropped_handler.
func (p *Process) TEventSetDroppedHandler(eventRegistration, droppedCbFunction uintptr) Code {
	return p.withTool(func(t *tool.Interface) error {
		if droppedCbFunction == 0 {
			return t.Dropped(eventRegistration, nil)
		}
		return t.Dropped(eventRegistration, func(n int64, registration uintptr) {
			p.host.EventsDropped(droppedCbFunction, n, registration, 0, int32(tool.RequireThreadSafe))
		})
	})
}

// withInstance does something with an event whose callback runs.
func (p *Process) withInstance(eventInstance uintptr, do func(*tool.Instance) error) Code {
	return p.withTool(func(t *tool.Interface) error {
		e, err := t.Instance(eventInstance)
		if err != nil {
			return err
		}
		return do(e)
	})
}

// TEventRead is MPI_T_event_read.
func (p *Process) TEventRead(eventInstance uintptr, elementIndex int32, buffer unsafe.Pointer) Code {
	return p.withInstance(eventInstance, func(e *tool.Instance) error {
		v, err := element(e.Values, elementIndex)
		if err == nil {
			*(*int32)(buffer) = *v
		}
		return err
	})
}

// TEventCopy is MPI_T_event_copy.
func (p *Process) TEventCopy(eventInstance uintptr, buffer unsafe.Pointer) Code {
	return p.withInstance(eventInstance, func(e *tool.Instance) error {
		copy(unsafe.Slice((*int32)(buffer), len(e.Values)), e.Values)
		return nil
	})
}

// TEventGetTimestamp is MPI_T_event_get_timestamp.
func (p *Process) TEventGetTimestamp(eventInstance uintptr, eventTimestamp *int64) Code {
	return p.withInstance(eventInstance, func(e *tool.Instance) error {
		put(eventTimestamp, e.Stamp)
		return nil
	})
}

// TEventGetSource is MPI_T_event_get_source.
func (p *Process) TEventGetSource(eventInstance uintptr, sourceIndex *int32) Code {
	return p.withInstance(eventInstance, func(*tool.Instance) error {
		put(sourceIndex, 0)
		return nil
	})
}
