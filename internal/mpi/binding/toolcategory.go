package binding

import (
	"slices"
	"unsafe"

	"banyan/internal/mpi/tool"
)

// withCategory does something with the category of an index.
func (p *Process) withCategory(index int32, do func(*tool.Category)) Code {
	return p.withTool(func(t *tool.Interface) error {
		c, err := element(t.Categories, index)
		if err == nil {
			do(c)
		}
		return err
	})
}

// TCategoryGetNum is MPI_T_category_get_num.
func (p *Process) TCategoryGetNum(numCat *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		put(numCat, int32(len(t.Categories)))
		return nil
	})
}

// TCategoryGetInfo is MPI_T_category_get_info.
func (p *Process) TCategoryGetInfo(catIndex int32, name *byte, nameLen *int32, desc *byte, descLen, numCvars, numPvars, numCategories *int32) Code {
	return p.withCategory(catIndex, func(c *tool.Category) {
		putText(name, nameLen, c.Name)
		putText(desc, descLen, c.Description)
		put(numCvars, int32(len(c.Controls)))
		put(numPvars, int32(len(c.Performance)))
		put(numCategories, 0)
	})
}

// TCategoryGetNumEvents is MPI_T_category_get_num_events.
func (p *Process) TCategoryGetNumEvents(catIndex int32, numEvents *int32) Code {
	return p.withCategory(catIndex, func(c *tool.Category) { put(numEvents, int32(len(c.Events))) })
}

// TCategoryGetIndex is MPI_T_category_get_index.
func (p *Process) TCategoryGetIndex(name *byte, catIndex *int32) Code {
	return p.withTool(func(t *tool.Interface) error {
		return putIndex(catIndex, slices.IndexFunc(t.Categories, func(c tool.Category) bool { return c.Name == goString(name) }))
	})
}

// TCategoryGetCvars is MPI_T_category_get_cvars.
func (p *Process) TCategoryGetCvars(catIndex, len_ int32, indices *int32) Code {
	return p.withCategory(catIndex, func(c *tool.Category) { copyIndices(indices, len_, c.Controls) })
}

// TCategoryGetPvars is MPI_T_category_get_pvars.
func (p *Process) TCategoryGetPvars(catIndex, len_ int32, indices *int32) Code {
	return p.withCategory(catIndex, func(c *tool.Category) { copyIndices(indices, len_, c.Performance) })
}

// TCategoryGetEvents is MPI_T_category_get_events.
func (p *Process) TCategoryGetEvents(catIndex, len_ int32, indices *int32) Code {
	return p.withCategory(catIndex, func(c *tool.Category) { copyIndices(indices, len_, c.Events) })
}

// TCategoryGetCategories is MPI_T_category_get_categories: no category has others.
func (p *Process) TCategoryGetCategories(catIndex, len_ int32, indices *int32) Code {
	return p.withCategory(catIndex, func(*tool.Category) {})
}

// TCategoryChanged is MPI_T_category_changed: they never change.
func (p *Process) TCategoryChanged(updateNumber *int32) Code {
	return p.withTool(func(*tool.Interface) error {
		put(updateNumber, 0)
		return nil
	})
}

// copyIndices stores as many indices as there is room for.
func copyIndices(to *int32, room int32, from []int32) {
	if to != nil && room > 0 {
		copy(unsafe.Slice(to, room), from)
	}
}
