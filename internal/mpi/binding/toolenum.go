package binding

import (
	"slices"

	"banyan/internal/mpi/tool"
)

// enumOf is the handle of an enumeration, its number from 1 on; MPI_T_ENUM_NULL for none.
func enumOf(t *tool.Interface, e *tool.Enum) uintptr { return uintptr(slices.Index(t.Enums, e) + 1) }

// withEnum does something with the enumeration of a handle.
func (p *Process) withEnum(enumtype uintptr, do func(*tool.Enum) error) Code {
	return p.withTool(func(t *tool.Interface) error {
		if enumtype == 0 || enumtype > uintptr(len(t.Enums)) {
			return tool.ErrHandle
		}
		return do(t.Enums[enumtype-1])
	})
}

// TEnumGetInfo is MPI_T_enum_get_info.
func (p *Process) TEnumGetInfo(enumtype uintptr, num *int32, name *byte, nameLen *int32) Code {
	return p.withEnum(enumtype, func(e *tool.Enum) error {
		put(num, int32(len(e.Items)))
		putText(name, nameLen, e.Name)
		return nil
	})
}

// TEnumGetItem is MPI_T_enum_get_item.
func (p *Process) TEnumGetItem(enumtype uintptr, indx int32, value *int32, name *byte, nameLen *int32) Code {
	return p.withEnum(enumtype, func(e *tool.Enum) error {
		item, err := element(e.Items, indx)
		if err != nil {
			return tool.ErrIndex
		}
		put(value, indx)
		putText(name, nameLen, *item)
		return nil
	})
}
