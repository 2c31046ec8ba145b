// The entry points of fault tolerance (ULFM), which mpi-ext.h declares.

#include "banyan.h"

ENTRY(MPIX_Comm_revoke, (MPI_Comm comm), (comm), RESULT(banyan_CommRevoke(HANDLE(comm))));
ENTRY(MPIX_Comm_is_revoked, (MPI_Comm comm, int *flag), (comm, flag), RESULT(banyan_CommIsRevoked(HANDLE(comm), flag)));
ENTRY(MPIX_Comm_get_failed, (MPI_Comm comm, MPI_Group *failedgrp), (comm, failedgrp), RESULT(banyan_CommGetFailed(HANDLE(comm), POINTER(failedgrp))));
ENTRY(MPIX_Comm_ack_failed, (MPI_Comm comm, int num_to_ack, int *num_acked), (comm, num_to_ack, num_acked), RESULT(banyan_CommAckFailed(HANDLE(comm), num_to_ack, num_acked)));
ENTRY(MPIX_Comm_failure_ack, (MPI_Comm comm), (comm), RESULT(banyan_CommFailureAck(HANDLE(comm))));
ENTRY(MPIX_Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *failedgrp), (comm, failedgrp), RESULT(banyan_CommFailureGetAcked(HANDLE(comm), POINTER(failedgrp))));
ENTRY(MPIX_Comm_agree, (MPI_Comm comm, int *flag), (comm, flag), RESULT(banyan_CommAgree(HANDLE(comm), flag)));
ENTRY(MPIX_Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request), (comm, flag, request), RESULT(banyan_CommIagree(HANDLE(comm), flag, POINTER(request))));
ENTRY(MPIX_Comm_agree_failed, (MPI_Comm comm, MPI_Group *failedgrp), (comm, failedgrp), RESULT(banyan_CommAgreeFailed(HANDLE(comm), POINTER(failedgrp))));
ENTRY(MPIX_Comm_shrink, (MPI_Comm comm, MPI_Comm *newcomm), (comm, newcomm), RESULT(banyan_CommShrink(HANDLE(comm), POINTER(newcomm))));
ENTRY(MPIX_Comm_ishrink, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request), (comm, newcomm, request), RESULT(banyan_CommIshrink(HANDLE(comm), POINTER(newcomm), POINTER(request))));
