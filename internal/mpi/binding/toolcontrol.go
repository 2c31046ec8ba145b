package binding

import (
	"slices"
	"unsafe"

	"banyan/internal/mpi/tool"
)

// toolTypes are the datatypes of the tool interface's types.
var toolTypes = map[tool.Type]Datatype{tool.Int: TypeInt, tool.Double: TypeDouble, tool.Text: TypeChar, tool.Count: TypeUnsignedLongLong}

// Constants that Go has under other names.
const (
	scopeReadonly = 2 // MPI_T_SCOPE_READONLY
	scopeAllEq    = 7 // MPI_T_SCOPE_ALL_EQ
	bindNoObject  = 1 // MPI_T_BIND_NO_OBJECT
)

// TCvarGetNum is MPI_T_cvar_get_num.
func (p *Process) TCvarGetNum(numCvar *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		put(numCvar, int32(len(t.Controls)))
		return nil
	})
}

// TCvarGetInfo is MPI_T_cvar_get_info.
func (p *Process) TCvarGetInfo(cvarIndex int32, name *byte, nameLen, verbosity *int32, datatype *Datatype, enumtype *uintptr, desc *byte, descLen, bind, scope *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		c, err := element(t.Controls, cvarIndex)
		if err != nil {
			return err
		}
		putText(name, nameLen, c.Name)
		putText(desc, descLen, c.Description)
		put(verbosity, int32(c.Verbosity))
		put(datatype, toolTypes[c.Type])
		put(enumtype, enumOf(t, c.Enum))
		put(bind, bindNoObject)
		put(scope, scopeReadonly)
		if c.Write != nil {
			put(scope, scopeAllEq)
		}
		return nil
	})
}

// TCvarGetIndex is MPI_T_cvar_get_index.
func (p *Process) TCvarGetIndex(name *byte, cvarIndex *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		return putIndex(cvarIndex, slices.IndexFunc(t.Controls, func(c tool.Control) bool { return c.Name == goString(name) }))
	})
}

// putIndex stores an index that was found, or says that there is no such name.
func putIndex(to *int32, index int) error {
	if index < 0 {
		return tool.ErrName
	}
	put(to, int32(index))
	return nil
}

// TCvarHandleAlloc is MPI_T_cvar_handle_alloc.
func (p *Process) TCvarHandleAlloc(cvarIndex int32, objHandle unsafe.Pointer, handle *uintptr, count *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		if handle == nil {
			return tool.ErrValue
		}
		h, c, err := t.OpenControl(int(cvarIndex))
		if err != nil {
			return err
		}
		*handle = h
		put(count, 1)
		if c.Type == tool.Text {
			put(count, int32(c.Room))
		}
		return nil
	})
}

// TCvarHandleFree is MPI_T_cvar_handle_free.
func (p *Process) TCvarHandleFree(handle *uintptr) Code {
	return p.withTool(func(t *tool.Interface) error {
		if handle == nil {
			return tool.ErrValue
		}
		if err := t.CloseControl(*handle); err != nil {
			return err
		}
		*handle = 0
		return nil
	})
}

// TCvarRead is MPI_T_cvar_read.
func (p *Process) TCvarRead(handle uintptr, buf unsafe.Pointer) Code {
	return p.withTool(func(t *tool.Interface) error {
		c, err := t.Control(handle)
		if err != nil {
			return err
		}
		switch v := c.Read(); c.Type {
		case tool.Int:
			*(*int32)(buf) = v.Int
		case tool.Double:
			*(*float64)(buf) = v.Double
		default:
			setString((*byte)(buf), c.Room, v.Text)
		}
		return nil
	})
}

// TCvarWrite is MPI_T_cvar_write.
func (p *Process) TCvarWrite(handle uintptr, buf unsafe.Pointer) Code {
	return p.withTool(func(t *tool.Interface) error {
		c, err := t.Control(handle)
		if err != nil {
			return err
		}
		var v tool.Value
		switch c.Type {
		case tool.Int:
			v.Int = *(*int32)(buf)
		case tool.Double:
			v.Double = *(*float64)(buf)
		default:
			v.Text = text((*byte)(buf), c.Room)
		}
		return t.Set(c, v)
	})
}

// text is a C string of at most room bytes, with or without its final zero.
func text(s *byte, room int) string {
	b := unsafe.Slice(s, room)
	if end := slices.Index(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}
