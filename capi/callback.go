package main

// Go calls the functions of the program through C.

/*
#include <stdint.h>
#include "../abi/mpi.h"
#include "ext.h"

static void reduce(uintptr_t fn, void *in, void *inout, int count, uintptr_t datatype)
{
	MPI_Datatype d = (MPI_Datatype)datatype;
	((MPI_User_function *)fn)(in, inout, &count, &d);
}

static void reduce_c(uintptr_t fn, void *in, void *inout, MPI_Count count, uintptr_t datatype)
{
	MPI_Datatype d = (MPI_Datatype)datatype;
	((MPI_User_function_c *)fn)(in, inout, &count, &d);
}

// The objects of attributes are handles. All handles are pointers, so one type serves all.
static int copy_attribute(uintptr_t fn, uintptr_t object, int keyval, uintptr_t extra, uintptr_t value, uintptr_t *copied, int *keep)
{
	return ((MPI_Comm_copy_attr_function *)fn)((MPI_Comm)object, keyval, (void *)extra, (void *)value, copied, keep);
}

static int delete_attribute(uintptr_t fn, uintptr_t object, int keyval, uintptr_t value, uintptr_t extra)
{
	return ((MPI_Comm_delete_attr_function *)fn)((MPI_Comm)object, keyval, (void *)value, (void *)extra);
}

static int query_request(uintptr_t fn, uintptr_t extra, MPI_Status *status)
{
	return ((MPI_Grequest_query_function *)fn)((void *)extra, status);
}

static int free_request(uintptr_t fn, uintptr_t extra)
{
	return ((MPI_Grequest_free_function *)fn)((void *)extra);
}

static int cancel_request(uintptr_t fn, uintptr_t extra, int complete)
{
	return ((MPI_Grequest_cancel_function *)fn)((void *)extra, complete);
}

static int convert(uintptr_t fn, void *user, uintptr_t datatype, int count, void *file, MPI_Offset position, uintptr_t extra)
{
	return ((MPI_Datarep_conversion_function *)fn)(user, (MPI_Datatype)datatype, count, file, position, (void *)extra);
}

static int convert_c(uintptr_t fn, void *user, uintptr_t datatype, MPI_Count count, void *file, MPI_Offset position, uintptr_t extra)
{
	return ((MPI_Datarep_conversion_function_c *)fn)(user, (MPI_Datatype)datatype, count, file, position, (void *)extra);
}

static int file_extent(uintptr_t fn, uintptr_t datatype, MPI_Aint *extent, uintptr_t extra)
{
	return ((MPI_Datarep_extent_function *)fn)((MPI_Datatype)datatype, extent, (void *)extra);
}

static int save_state(uintptr_t fn, uintptr_t extra, int *count, const MPIX_State_piece **pieces)
{
	return ((MPIX_State_save_function *)fn)((void *)extra, count, pieces);
}

static void event_happened(uintptr_t fn, uintptr_t instance, uintptr_t registration, int safety, uintptr_t user)
{
	((MPI_T_event_cb_function *)fn)((MPI_T_event_instance)instance, (MPI_T_event_registration)registration, (MPI_T_cb_safety)safety, (void *)user);
}

static void event_freed(uintptr_t fn, uintptr_t registration, int safety, uintptr_t user)
{
	((MPI_T_event_free_cb_function *)fn)((MPI_T_event_registration)registration, (MPI_T_cb_safety)safety, (void *)user);
}

static void events_dropped(uintptr_t fn, MPI_Count n, uintptr_t registration, int source, int safety)
{
	((MPI_T_event_dropped_cb_function *)fn)(n, (MPI_T_event_registration)registration, source, (MPI_T_cb_safety)safety, NULL);
}

static int load_state(uintptr_t fn, uintptr_t extra, void *data, MPI_Count length)
{
	return ((MPIX_State_load_function *)fn)((void *)extra, data, length);
}
*/
import "C"

import (
	"math"
	"unsafe"

	"banyan/internal/mpi/binding"
)

// callbacks is binding.Callbacks.
type callbacks struct{}

func (callbacks) Reduce(fn uintptr, wide bool, in, inout unsafe.Pointer, count int64, datatype binding.Datatype) {
	if wide {
		C.reduce_c(C.uintptr_t(fn), in, inout, C.MPI_Count(count), C.uintptr_t(datatype))
	} else {
		C.reduce(C.uintptr_t(fn), in, inout, C.int(count), C.uintptr_t(datatype))
	}
}

func (callbacks) CopyAttribute(fn, object uintptr, keyval int32, extra, value uintptr) (uintptr, bool, binding.Code) {
	var copied C.uintptr_t
	var keep C.int
	code := C.copy_attribute(C.uintptr_t(fn), C.uintptr_t(object), C.int(keyval), C.uintptr_t(extra), C.uintptr_t(value), &copied, &keep)
	return uintptr(copied), keep != 0, binding.Code(code)
}

func (callbacks) DeleteAttribute(fn, object uintptr, keyval int32, value, extra uintptr) binding.Code {
	return binding.Code(C.delete_attribute(C.uintptr_t(fn), C.uintptr_t(object), C.int(keyval), C.uintptr_t(value), C.uintptr_t(extra)))
}

func (callbacks) QueryRequest(fn, extra uintptr, status *binding.Status) binding.Code {
	return binding.Code(C.query_request(C.uintptr_t(fn), C.uintptr_t(extra), (*C.MPI_Status)(unsafe.Pointer(status))))
}

func (callbacks) FreeRequest(fn, extra uintptr) binding.Code {
	return binding.Code(C.free_request(C.uintptr_t(fn), C.uintptr_t(extra)))
}

func (callbacks) CancelRequest(fn, extra uintptr, complete bool) binding.Code {
	c := C.int(0)
	if complete {
		c = 1
	}
	return binding.Code(C.cancel_request(C.uintptr_t(fn), C.uintptr_t(extra), c))
}

func (callbacks) ConvertData(fn uintptr, wide bool, user unsafe.Pointer, datatype binding.Datatype, count int64, file unsafe.Pointer, position int64, extra uintptr) binding.Code {
	if wide {
		return binding.Code(C.convert_c(C.uintptr_t(fn), user, C.uintptr_t(datatype), C.MPI_Count(count), file, C.MPI_Offset(position), C.uintptr_t(extra)))
	}
	if count > math.MaxInt32 {
		return binding.ErrCount
	}
	return binding.Code(C.convert(C.uintptr_t(fn), user, C.uintptr_t(datatype), C.int(count), file, C.MPI_Offset(position), C.uintptr_t(extra)))
}

func (callbacks) FileExtent(fn uintptr, datatype binding.Datatype, extra uintptr) (int64, binding.Code) {
	var extent C.MPI_Aint
	code := C.file_extent(C.uintptr_t(fn), C.uintptr_t(datatype), &extent, C.uintptr_t(extra))
	return int64(extent), binding.Code(code)
}

func (callbacks) SaveState(fn, extra uintptr) (pieces [][]byte, code binding.Code) {
	var n C.int
	var first *C.MPIX_State_piece
	if code := C.save_state(C.uintptr_t(fn), C.uintptr_t(extra), &n, &first); code != 0 {
		return nil, binding.Code(code)
	}
	if n < 0 || n > 0 && first == nil {
		return nil, binding.ErrCount
	}
	for _, x := range unsafe.Slice(first, int(n)) {
		switch {
		case x.length < 0 || x.length > 0 && x.address == nil:
			return nil, binding.ErrBuffer
		case x.length > 0:
			pieces = append(pieces, unsafe.Slice((*byte)(x.address), int(x.length)))
		}
	}
	return pieces, binding.Success
}

func (callbacks) LoadState(fn, extra uintptr, data []byte) binding.Code {
	return binding.Code(C.load_state(C.uintptr_t(fn), C.uintptr_t(extra), unsafe.Pointer(unsafe.SliceData(data)), C.MPI_Count(len(data))))
}

func (callbacks) EventHappened(fn, instance, registration uintptr, safety int32, user uintptr) {
	C.event_happened(C.uintptr_t(fn), C.uintptr_t(instance), C.uintptr_t(registration), C.int(safety), C.uintptr_t(user))
}

func (callbacks) EventFreed(fn, registration uintptr, safety int32, user uintptr) {
	C.event_freed(C.uintptr_t(fn), C.uintptr_t(registration), C.int(safety), C.uintptr_t(user))
}

func (callbacks) EventsDropped(fn uintptr, n int64, registration uintptr, source, safety int32) {
	C.events_dropped(C.uintptr_t(fn), C.MPI_Count(n), C.uintptr_t(registration), C.int(source), C.int(safety))
}
