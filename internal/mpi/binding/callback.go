package binding

import "unsafe"

// Callbacks call functions of the program. Each runs on the thread of a call to the library,
// with no lock held. The functions are C addresses, which are opaque here. A function that
// doesn't return (longjmp, an exception) leaves a call of the library unfinished, which the
// standard doesn't allow either.
type Callbacks interface {
	// Reduce calls a user-defined reduction, MPI_User_function_c if wide.
	Reduce(fn uintptr, wide bool, in, inout unsafe.Pointer, count int64, datatype Datatype)
	// CopyAttribute calls an MPI_*_copy_attr_function. It returns the copied
	// value, whether there is one, and the function's error code.
	CopyAttribute(fn, object uintptr, keyval int32, extra, value uintptr) (copied uintptr, keep bool, code Code)
	// DeleteAttribute calls an MPI_*_delete_attr_function.
	DeleteAttribute(fn, object uintptr, keyval int32, value, extra uintptr) Code
	// QueryRequest, FreeRequest and CancelRequest call the functions of a generalised request.
	QueryRequest(fn, extra uintptr, status *Status) Code
	FreeRequest(fn, extra uintptr) Code
	CancelRequest(fn, extra uintptr, complete bool) Code
	// ConvertData calls an MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c if
	// wide.
	ConvertData(fn uintptr, wide bool, user unsafe.Pointer, datatype Datatype, count int64, file unsafe.Pointer, position int64, extra uintptr) Code
	// FileExtent calls an MPI_Datarep_extent_function.
	FileExtent(fn uintptr, datatype Datatype, extra uintptr) (extent int64, code Code)
	// EventHappened calls an MPI_T_event_cb_function, EventFreed an MPI_T_event_free_cb_function,
	// EventsDropped an MPI_T_event_dropped_cb_function: all on a thread of the library.
	EventHappened(fn, instance, registration uintptr, safety int32, user uintptr)
	EventFreed(fn, registration uintptr, safety int32, user uintptr)
	EventsDropped(fn uintptr, n int64, registration uintptr, source, safety int32)
	// SaveState and LoadState call the functions of MPIX_State_register_function.
	SaveState(fn, extra uintptr) (pieces [][]byte, code Code)
	LoadState(fn, extra uintptr, data []byte) Code
}
