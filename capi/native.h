// native.h: the functions that need Go never, or seldom. The generator finds them here: native_X
// is MPI_X. A call without room for a result is left to Go, which says so.
#ifndef BANYAN_NATIVE_H
#define BANYAN_NATIVE_H

#include <stdint.h>

#include "banyan.h"
#include "commons.h"
#include "lane.h"
#include "led.h"
#include "native_window.h"
#include "typesize.h"

// ROOM ends a call that needs Go never with an error if an argument is NULL.
#define ROOM(function, argument)                                                  \
	do {                                                                      \
		if (UNLIKELY(!(argument))) {                                      \
			GUARD(function);                                          \
			return RESULT(banyan_Null((char *)#function, (char *)#argument)); \
		}                                                                 \
	} while (0)

static inline double native_Wtime(void)
{
	if (UNLIKELY(banyan_led)) {
		banyan_note_caller(__builtin_return_address(0));
		return banyan_time();
	}
	return banyan_clock();
}

static inline double native_Wtick(void)
{
	return 1e-9;
}

static inline MPI_Aint native_Aint_add(MPI_Aint base, MPI_Aint disp)
{
	return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

static inline MPI_Aint native_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
	return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

static inline int native_Get_address(const void *location, MPI_Aint *address)
{
	ROOM(MPI_Get_address, address);
	*address = (MPI_Aint)location;
	return MPI_SUCCESS;
}

static inline int native_Get_version(int *version, int *subversion)
{
	ROOM(MPI_Get_version, version);
	ROOM(MPI_Get_version, subversion);
	*version = MPI_VERSION;
	*subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}

static inline int native_Abi_get_version(int *abi_major, int *abi_minor)
{
	ROOM(MPI_Abi_get_version, abi_major);
	ROOM(MPI_Abi_get_version, abi_minor);
	*abi_major = MPI_ABI_VERSION;
	*abi_minor = MPI_ABI_SUBVERSION;
	return MPI_SUCCESS;
}

static inline int native_Pcontrol(const int level, ...)
{
	(void)level; // profiling libraries have an MPI_Pcontrol of their own
	return MPI_SUCCESS;
}

static inline int native_Status_get_source(const MPI_Status *status, int *source)
{
	ROOM(MPI_Status_get_source, status);
	ROOM(MPI_Status_get_source, source);
	*source = status->MPI_SOURCE;
	return MPI_SUCCESS;
}

static inline int native_Status_get_tag(const MPI_Status *status, int *tag)
{
	ROOM(MPI_Status_get_tag, status);
	ROOM(MPI_Status_get_tag, tag);
	*tag = status->MPI_TAG;
	return MPI_SUCCESS;
}

static inline int native_Status_get_error(const MPI_Status *status, int *error)
{
	ROOM(MPI_Status_get_error, status);
	ROOM(MPI_Status_get_error, error);
	*error = status->MPI_ERROR;
	return MPI_SUCCESS;
}

static inline int native_Status_set_source(MPI_Status *status, int source)
{
	ROOM(MPI_Status_set_source, status);
	status->MPI_SOURCE = source;
	return MPI_SUCCESS;
}

static inline int native_Status_set_tag(MPI_Status *status, int tag)
{
	ROOM(MPI_Status_set_tag, status);
	status->MPI_TAG = tag;
	return MPI_SUCCESS;
}

static inline int native_Status_set_error(MPI_Status *status, int error)
{
	ROOM(MPI_Status_set_error, status);
	status->MPI_ERROR = error;
	return MPI_SUCCESS;
}

// The first internal word is binding.Status's field cancelled.
static inline int native_Status_set_cancelled(MPI_Status *status, int flag)
{
	ROOM(MPI_Status_set_cancelled, status);
	status->MPI_internal[0] = flag != 0;
	return MPI_SUCCESS;
}

// Small messages within a host; see lane.c.

static inline int native_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_lane_send(buf, count, datatype, dest, tag, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Send);
	return RESULT(banyan_Send(POINTER(buf), count, HANDLE(datatype), dest, tag, HANDLE(comm)));
}

static inline int native_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_lane_send(buf, count, datatype, dest, tag, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Send_c);
	return RESULT(banyan_Send(POINTER(buf), count, HANDLE(datatype), dest, tag, HANDLE(comm)));
}

static inline int native_Wait(MPI_Request *request, MPI_Status *status)
{
	if (request && banyan_lane_knows(*request) && banyan_lane_end(1, request, status, true) == BANYAN_OVER)
		return MPI_SUCCESS;
	GUARD(MPI_Wait);
	return RESULT(banyan_Wait(POINTER(request), POINTER(status)));
}

static inline int native_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	MPI_Request request;
	if (banyan_lane_usable()) {
		if (banyan_lane_threaded()) {
			if (banyan_lane_note(buf, count, datatype, source, tag, comm, true, &request) ||
			    banyan_note_receive(POINTER(buf), count, HANDLE(datatype), source, tag, HANDLE(comm), &request))
				return native_Wait(&request, status);
		} else if (banyan_lane_receive(buf, count, datatype, source, tag, comm, status)) {
			return MPI_SUCCESS;
		}
	}
	GUARD(MPI_Recv);
	return RESULT(banyan_Recv(POINTER(buf), count, HANDLE(datatype), source, tag, HANDLE(comm), POINTER(status)));
}

static inline int native_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	MPI_Request request;
	if (banyan_lane_usable()) {
		if (banyan_lane_threaded()) {
			if (banyan_lane_note(buf, count, datatype, source, tag, comm, true, &request) ||
			    banyan_note_receive(POINTER(buf), count, HANDLE(datatype), source, tag, HANDLE(comm), &request))
				return native_Wait(&request, status);
		} else if (banyan_lane_receive(buf, count, datatype, source, tag, comm, status)) {
			return MPI_SUCCESS;
		}
	}
	GUARD(MPI_Recv_c);
	return RESULT(banyan_Recv(POINTER(buf), count, HANDLE(datatype), source, tag, HANDLE(comm), POINTER(status)));
}

static inline int native_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	if (banyan_lane_usable() && request) {
		MPI_Request sent = banyan_lane_start_send(buf, count, datatype, dest, tag, comm);
		if (sent) {
			*request = sent;
			return MPI_SUCCESS;
		}
	}
	GUARD(MPI_Isend);
	return RESULT(banyan_Isend(POINTER(buf), count, HANDLE(datatype), dest, tag, HANDLE(comm), POINTER(request)));
}

static inline int native_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
	if (banyan_lane_usable() && request) {
		MPI_Request sent = banyan_lane_start_send(buf, count, datatype, dest, tag, comm);
		if (sent) {
			*request = sent;
			return MPI_SUCCESS;
		}
	}
	GUARD(MPI_Isend_c);
	return RESULT(banyan_Isend(POINTER(buf), count, HANDLE(datatype), dest, tag, HANDLE(comm), POINTER(request)));
}

static inline int native_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	if (banyan_lane_usable() && request && banyan_lane_note(buf, count, datatype, source, tag, comm, false, request))
		return MPI_SUCCESS;
	GUARD(MPI_Irecv);
	return RESULT(banyan_Irecv(POINTER(buf), count, HANDLE(datatype), source, tag, HANDLE(comm), POINTER(request)));
}

static inline int native_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	if (banyan_lane_usable() && request && banyan_lane_note(buf, count, datatype, source, tag, comm, false, request))
		return MPI_SUCCESS;
	GUARD(MPI_Irecv_c);
	return RESULT(banyan_Irecv(POINTER(buf), count, HANDLE(datatype), source, tag, HANDLE(comm), POINTER(request)));
}

static inline int native_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	if (banyan_lane_usable() && banyan_lane_send(sendbuf, sendcount, sendtype, dest, sendtag, comm)) {
		if (banyan_lane_receive(recvbuf, recvcount, recvtype, source, recvtag, comm, status))
			return MPI_SUCCESS;
		dest = MPI_PROC_NULL; // what is sent is sent
	}
	GUARD(MPI_Sendrecv);
	return RESULT(banyan_Sendrecv(POINTER(sendbuf), sendcount, HANDLE(sendtype), dest, sendtag, POINTER(recvbuf), recvcount, HANDLE(recvtype), source, recvtag, HANDLE(comm), POINTER(status)));
}

static inline int native_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
	if (banyan_lane_usable() && banyan_lane_send(sendbuf, sendcount, sendtype, dest, sendtag, comm)) {
		if (banyan_lane_receive(recvbuf, recvcount, recvtype, source, recvtag, comm, status))
			return MPI_SUCCESS;
		dest = MPI_PROC_NULL; // what is sent is sent
	}
	GUARD(MPI_Sendrecv_c);
	return RESULT(banyan_Sendrecv(POINTER(sendbuf), sendcount, HANDLE(sendtype), dest, sendtag, POINTER(recvbuf), recvcount, HANDLE(recvtype), source, recvtag, HANDLE(comm), POINTER(status)));
}

static inline int native_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	if (banyan_lane_usable() && banyan_lane_probe(source, tag, comm, true, status))
		return MPI_SUCCESS;
	GUARD(MPI_Probe);
	return RESULT(banyan_Probe(source, tag, HANDLE(comm), POINTER(status)));
}

static inline int native_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	if (banyan_lane_usable() && flag && banyan_lane_probe(source, tag, comm, false, status)) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	GUARD(MPI_Iprobe);
	return RESULT(banyan_Iprobe(source, tag, HANDLE(comm), POINTER(flag), POINTER(status)));
}

static inline int native_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (request && flag && banyan_lane_knows(*request)) {
		enum banyan_lane_outcome o = banyan_lane_end(1, request, status, false);
		if (o != BANYAN_UNKNOWN) {
			*flag = o == BANYAN_OVER;
			return MPI_SUCCESS;
		}
	}
	GUARD(MPI_Test);
	return RESULT(banyan_Test(POINTER(request), POINTER(flag), POINTER(status)));
}

static inline int native_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	if (count > 0 && array_of_requests && banyan_lane_knows(array_of_requests[0]) && banyan_lane_end(count, array_of_requests, array_of_statuses, true) == BANYAN_OVER)
		return MPI_SUCCESS;
	GUARD(MPI_Waitall);
	return RESULT(banyan_Waitall(count, POINTER(array_of_requests), POINTER(array_of_statuses)));
}

static inline int native_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
{
	if (flag && banyan_lane_knows_some(count, array_of_requests)) {
		enum banyan_lane_outcome o = banyan_lane_end(count, array_of_requests, array_of_statuses, false);
		if (o != BANYAN_UNKNOWN) {
			*flag = o == BANYAN_OVER;
			return MPI_SUCCESS;
		}
	}
	GUARD(MPI_Testall);
	return RESULT(banyan_Testall(count, POINTER(array_of_requests), POINTER(flag), POINTER(array_of_statuses)));
}

static inline int native_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
	int ended;
	if (indx && banyan_lane_knows_some(count, array_of_requests) &&
	    banyan_lane_end_some(count, array_of_requests, 1, &ended, indx, status, true) == BANYAN_OVER)
		return MPI_SUCCESS;
	GUARD(MPI_Waitany);
	return RESULT(banyan_Waitany(count, POINTER(array_of_requests), POINTER(indx), POINTER(status)));
}

static inline int native_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag, MPI_Status *status)
{
	int ended;
	if (indx && flag && banyan_lane_knows_some(count, array_of_requests)) {
		enum banyan_lane_outcome o = banyan_lane_end_some(count, array_of_requests, 1, &ended, indx, status, false);
		if (o != BANYAN_UNKNOWN) {
			*flag = o == BANYAN_OVER;
			if (!*flag)
				*indx = MPI_UNDEFINED;
			return MPI_SUCCESS;
		}
	}
	GUARD(MPI_Testany);
	return RESULT(banyan_Testany(count, POINTER(array_of_requests), POINTER(indx), POINTER(flag), POINTER(status)));
}

static inline int native_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status array_of_statuses[])
{
	if (outcount && array_of_indices && banyan_lane_knows_some(incount, array_of_requests) &&
	    banyan_lane_end_some(incount, array_of_requests, incount, outcount, array_of_indices, array_of_statuses, true) == BANYAN_OVER)
		return MPI_SUCCESS;
	GUARD(MPI_Waitsome);
	return RESULT(banyan_Waitsome(incount, POINTER(array_of_requests), POINTER(outcount), POINTER(array_of_indices), POINTER(array_of_statuses)));
}

static inline int native_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status array_of_statuses[])
{
	if (outcount && array_of_indices && banyan_lane_knows_some(incount, array_of_requests) &&
	    banyan_lane_end_some(incount, array_of_requests, incount, outcount, array_of_indices, array_of_statuses, false) != BANYAN_UNKNOWN)
		return MPI_SUCCESS;
	GUARD(MPI_Testsome);
	return RESULT(banyan_Testsome(incount, POINTER(array_of_requests), POINTER(outcount), POINTER(array_of_indices), POINTER(array_of_statuses)));
}

// banyan_size is the size of a predefined type, and 0 for types that only Go knows.
static inline int64_t banyan_size(MPI_Datatype datatype)
{
	uintptr_t i = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL;
	return i < sizeof banyan_type_size ? banyan_type_size[i] : 0;
}

static inline int native_Type_size(MPI_Datatype datatype, int *size)
{
	int64_t n = banyan_size(datatype);
	if (UNLIKELY(n == 0 || !size)) {
		GUARD(MPI_Type_size);
		return RESULT(banyan_TypeSize(HANDLE(datatype), POINTER(size), 0));
	}
	*size = (int)n;
	return MPI_SUCCESS;
}

static inline int native_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
	int64_t size = banyan_size(datatype), bytes;
	if (UNLIKELY(size == 0 || status == MPI_STATUS_IGNORE || !count)) {
		GUARD(MPI_Get_count_c);
		return RESULT(banyan_GetCount(POINTER(status), HANDLE(datatype), POINTER(count), 1));
	}
	// The second and third internal words are binding.Status's field bytes.
	bytes = (int64_t)status->MPI_internal[2] << 32 | (uint32_t)status->MPI_internal[1];
	*count = bytes % size == 0 ? bytes / size : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static inline int native_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
	MPI_Count n;
	if (UNLIKELY(banyan_size(datatype) == 0 || status == MPI_STATUS_IGNORE || !count)) {
		GUARD(MPI_Get_count);
		return RESULT(banyan_GetCount(POINTER(status), HANDLE(datatype), POINTER(count), 0));
	}
	native_Get_count_c(status, datatype, &n);
	*count = n == (int)n ? (int)n : MPI_UNDEFINED;
	return MPI_SUCCESS;
}

// Small collectives within a host; see commons.c.

static inline int native_Barrier(MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_barrier(comm))
		return MPI_SUCCESS;
	GUARD(MPI_Barrier);
	return RESULT(banyan_Barrier(HANDLE(comm)));
}

static inline int native_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_bcast(buffer, count, datatype, root, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Bcast);
	return RESULT(banyan_Bcast(POINTER(buffer), count, HANDLE(datatype), root, HANDLE(comm)));
}

static inline int native_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_bcast(buffer, count, datatype, root, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Bcast_c);
	return RESULT(banyan_Bcast(POINTER(buffer), count, HANDLE(datatype), root, HANDLE(comm)));
}

static inline int native_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_allreduce(sendbuf, recvbuf, count, datatype, op, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Allreduce);
	return RESULT(banyan_Allreduce(POINTER(sendbuf), POINTER(recvbuf), count, HANDLE(datatype), HANDLE(op), HANDLE(comm)));
}

static inline int native_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_allreduce(sendbuf, recvbuf, count, datatype, op, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Allreduce_c);
	return RESULT(banyan_Allreduce(POINTER(sendbuf), POINTER(recvbuf), count, HANDLE(datatype), HANDLE(op), HANDLE(comm)));
}

static inline int native_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Allgather);
	return RESULT(banyan_Allgather(POINTER(sendbuf), sendcount, HANDLE(sendtype), POINTER(recvbuf), recvcount, HANDLE(recvtype), HANDLE(comm)));
}

static inline int native_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Allgather_c);
	return RESULT(banyan_Allgather(POINTER(sendbuf), sendcount, HANDLE(sendtype), POINTER(recvbuf), recvcount, HANDLE(recvtype), HANDLE(comm)));
}

static inline int native_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Alltoall);
	return RESULT(banyan_Alltoall(POINTER(sendbuf), sendcount, HANDLE(sendtype), POINTER(recvbuf), recvcount, HANDLE(recvtype), HANDLE(comm)));
}

static inline int native_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	if (banyan_lane_usable() && banyan_commons_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
		return MPI_SUCCESS;
	GUARD(MPI_Alltoall_c);
	return RESULT(banyan_Alltoall(POINTER(sendbuf), sendcount, HANDLE(sendtype), POINTER(recvbuf), recvcount, HANDLE(recvtype), HANDLE(comm)));
}

#endif
