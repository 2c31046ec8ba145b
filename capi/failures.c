// The entry points of fault tolerance (ULFM), which mpi-ext.h declares.

#include "banyan.h"
#include "commons.h"

// TOLERANT is ENTRY for a function that has two names: as an extension, and as the MPI Forum has
// proposed it.
#define TOLERANT(name, params, arguments, work)                                       \
	ENTRY(MPIX_##name, params, arguments, work);                                  \
	int PMPI_##name params __attribute__((alias("PMPIX_" #name)));                \
	int MPI_##name params __attribute__((weak, alias("PMPIX_" #name)))

TOLERANT(Comm_revoke, (MPI_Comm comm), (comm), RESULT(banyan_CommRevoke(HANDLE(comm))));
TOLERANT(Comm_is_revoked, (MPI_Comm comm, int *flag), (comm, flag), RESULT(banyan_CommIsRevoked(HANDLE(comm), flag)));
TOLERANT(Comm_get_failed, (MPI_Comm comm, MPI_Group *failedgrp), (comm, failedgrp), RESULT(banyan_CommGetFailed(HANDLE(comm), POINTER(failedgrp))));
TOLERANT(Comm_ack_failed, (MPI_Comm comm, int num_to_ack, int *num_acked), (comm, num_to_ack, num_acked), RESULT(banyan_CommAckFailed(HANDLE(comm), num_to_ack, num_acked)));
TOLERANT(Comm_failure_ack, (MPI_Comm comm), (comm), RESULT(banyan_CommFailureAck(HANDLE(comm))));
TOLERANT(Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *failedgrp), (comm, failedgrp), RESULT(banyan_CommFailureGetAcked(HANDLE(comm), POINTER(failedgrp))));
TOLERANT(Comm_agree, (MPI_Comm comm, int *flag), (comm, flag), banyan_lane_usable() && flag && banyan_commons_agree(flag, comm) ? MPI_SUCCESS : RESULT(banyan_CommAgree(HANDLE(comm), flag)));
TOLERANT(Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request), (comm, flag, request), RESULT(banyan_CommIagree(HANDLE(comm), flag, POINTER(request))));
TOLERANT(Comm_agree_failed, (MPI_Comm comm, MPI_Group *failedgrp), (comm, failedgrp), RESULT(banyan_CommAgreeFailed(HANDLE(comm), POINTER(failedgrp))));
TOLERANT(Comm_shrink, (MPI_Comm comm, MPI_Comm *newcomm), (comm, newcomm), RESULT(banyan_CommShrink(HANDLE(comm), POINTER(newcomm))));
// The same for Fortran, which has numbers in place of handles.
int banyan_Comm_ishrink_number(MPI_Comm comm, int *newcomm, MPI_Request *request) __attribute__((visibility("default")));
int banyan_Comm_ishrink_number(MPI_Comm comm, int *newcomm, MPI_Request *request)
{
	GUARD(MPIX_Comm_ishrink);
	return RESULT(banyan_CommIshrinkNumber(HANDLE(comm), newcomm, POINTER(request)));
}

TOLERANT(Comm_ishrink, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request), (comm, newcomm, request), RESULT(banyan_CommIshrink(HANDLE(comm), POINTER(newcomm), POINTER(request))));
ENTRY(MPIX_Comm_refill, (MPI_Comm comm, MPI_Comm *newcomm), (comm, newcomm), RESULT(banyan_CommRefill(HANDLE(comm), POINTER(newcomm))));
