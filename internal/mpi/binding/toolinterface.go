package binding

import (
	"errors"

	"banyan/internal/mpi/tool"
)

// The functions MPI_T_* are faces of package tool. They work before MPI_Init and after
// MPI_Finalize, and never call an error handler.

// toolCodes are the codes of package tool's errors.
var toolCodes = map[error]Code{
	tool.ErrUninitialised: TErrNotInitialized, tool.ErrIndex: TErrInvalidIndex, tool.ErrName: TErrInvalidName,
	tool.ErrSession: TErrInvalidSession, tool.ErrHandle: TErrInvalidHandle, tool.ErrNever: TErrCvarSetNever, tool.ErrNotNow: TErrCvarSetNotNow,
	tool.ErrReadOnly: TErrPvarNoWrite, tool.ErrContinuous: TErrPvarNoStartstop, tool.ErrValue: TErrInvalid,
}

func toolCode(err error) Code {
	if err == nil {
		return Success
	}
	for known, code := range toolCodes {
		if errors.Is(err, known) {
			return code
		}
	}
	return TErrInvalid
}

// withTool does something if somebody has initialised the interface.
func (p *Process) withTool(do func(t *tool.Interface) error) Code {
	if !p.tool.Active() {
		return TErrNotInitialized
	}
	return toolCode(do(p.tool))
}

// TInitThread is MPI_T_init_thread.
func (p *Process) TInitThread(required int32, provided *int32) Code {
	p.tool.Begin()
	put(provided, int32(ThreadMultiple))
	return Success
}

// TFinalize is MPI_T_finalize.
func (p *Process) TFinalize() Code { return toolCode(p.tool.End()) }

// put stores a result, unless the tool doesn't want it.
func put[T any](to *T, v T) {
	if to != nil {
		*to = v
	}
}

// putText stores a string as the tool interface wants: room comes and the string's length goes with
// its final zero, and a tool that has no buffer hears the length alone.
func putText(to *byte, room *int32, s string) {
	if room == nil {
		return
	}
	if to != nil && *room > 0 {
		setString(to, int(*room), s)
	}
	*room = int32(len(s)) + 1
}

// element is the element of an index, or an error.
func element[T any](all []T, index int32) (*T, error) {
	if index < 0 || int(index) >= len(all) {
		return nil, tool.ErrIndex
	}
	return &all[index], nil
}
