/* mpi-ext.c: mpi-ext.h for Fortran programs; see mpif-ext.h. It is part of Banyan's Fortran
   library. Under another MPI, compile it with the program, by that MPI's mpicc: its
   procedures do nothing then. */
#include <stdlib.h>
#include <string.h>

#include "mpi-ext.h"

#ifdef MPI_ABI_VERSION
#define TYPE(number) MPI_Type_fromint(number)
#define COMM(number) MPI_Comm_fromint(number)
#else
#define TYPE(number) MPI_Type_f2c(number)
#endif

/* The name without the blanks at its end, or NULL if there is no memory. */
static char *name_of(const char *name, size_t length)
{
	while (length > 0 && name[length - 1] == ' ')
		length--;
	char *s = malloc(length + 1);
	if (s != NULL) {
		memcpy(s, name, length);
		s[length] = 0;
	}
	return s;
}

void mpix_state_register_(const char *name, void *address, const int *count, const int *datatype, int *ierror, size_t length)
{
	char *s = name_of(name, length);
	*ierror = s == NULL ? MPI_ERR_NO_MEM : MPIX_State_register(s, address, *count, TYPE(*datatype));
	free(s);
}

void mpix_state_unregister_(const char *name, int *ierror, size_t length)
{
	char *s = name_of(name, length);
	*ierror = s == NULL ? MPI_ERR_NO_MEM : MPIX_State_unregister(s);
	free(s);
}

void mpix_safepoint_(int *restored, int *ierror)
{
	*ierror = MPIX_Safepoint(restored);
}

void mpix_expect_safepoints_(const int *total, int *ierror)
{
	*ierror = MPIX_Expect_safepoints(*total);
}

/* Fault tolerance (ULFM). Another MPI has its own procedures, or none. */
#ifdef MPI_ABI_VERSION

void mpix_comm_revoke_(const int *comm, int *ierror) { *ierror = MPIX_Comm_revoke(COMM(*comm)); }

void mpix_comm_is_revoked_(const int *comm, int *flag, int *ierror)
{
	*ierror = MPIX_Comm_is_revoked(COMM(*comm), flag); /* gfortran's .true. is 1 */
}

static int group_of(int code, MPI_Group group, int *to)
{
	*to = MPI_Group_toint(code == MPI_SUCCESS ? group : MPI_GROUP_NULL);
	return code;
}

void mpix_comm_get_failed_(const int *comm, int *group, int *ierror)
{
	MPI_Group g = MPI_GROUP_NULL;
	int code = MPIX_Comm_get_failed(COMM(*comm), &g);
	*ierror = group_of(code, g, group);
}

void mpix_comm_ack_failed_(const int *comm, const int *to_ack, int *acked, int *ierror)
{
	*ierror = MPIX_Comm_ack_failed(COMM(*comm), *to_ack, acked);
}

void mpix_comm_failure_ack_(const int *comm, int *ierror) { *ierror = MPIX_Comm_failure_ack(COMM(*comm)); }

void mpix_comm_failure_get_acked_(const int *comm, int *group, int *ierror)
{
	MPI_Group g = MPI_GROUP_NULL;
	int code = MPIX_Comm_failure_get_acked(COMM(*comm), &g);
	*ierror = group_of(code, g, group);
}

void mpix_comm_agree_(const int *comm, int *flag, int *ierror) { *ierror = MPIX_Comm_agree(COMM(*comm), flag); }

void mpix_comm_iagree_(const int *comm, int *flag, int *request, int *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	*ierror = MPIX_Comm_iagree(COMM(*comm), flag, &r);
	*request = MPI_Request_toint(r);
}

void mpix_comm_agree_failed_(const int *comm, int *group, int *ierror)
{
	MPI_Group g = MPI_GROUP_NULL;
	int code = MPIX_Comm_agree_failed(COMM(*comm), &g);
	*ierror = group_of(code, g, group);
}

void mpix_comm_shrink_(const int *comm, int *newcomm, int *ierror)
{
	MPI_Comm c = MPI_COMM_NULL;
	*ierror = MPIX_Comm_shrink(COMM(*comm), &c);
	*newcomm = MPI_Comm_toint(c);
}

/* The library sets NEWCOMM when the request ends. */
int banyan_Comm_ishrink_number(MPI_Comm comm, int *newcomm, MPI_Request *request);

void mpix_comm_ishrink_(const int *comm, int *newcomm, int *request, int *ierror)
{
	MPI_Request r = MPI_REQUEST_NULL;
	*ierror = banyan_Comm_ishrink_number(COMM(*comm), newcomm, &r);
	*request = MPI_Request_toint(r);
}

void mpix_comm_refill_(const int *comm, int *newcomm, int *ierror)
{
	MPI_Comm c = MPI_COMM_NULL;
	*ierror = MPIX_Comm_refill(COMM(*comm), &c);
	*newcomm = MPI_Comm_toint(c);
}

/* The same for mpi_f08, whose handles are an INTEGER each: IERROR may be missing. */
#define F08(name, parameters, arguments)    \
	void mpix_comm_##name##_f08_ parameters \
	{                                       \
		int unread;                         \
		if (ierror == NULL)                 \
			ierror = &unread;               \
		mpix_comm_##name##_ arguments;      \
	}
F08(revoke, (const int *comm, int *ierror), (comm, ierror))
F08(is_revoked, (const int *comm, int *flag, int *ierror), (comm, flag, ierror))
F08(get_failed, (const int *comm, int *failedgrp, int *ierror), (comm, failedgrp, ierror))
F08(ack_failed, (const int *comm, const int *num_to_ack, int *num_acked, int *ierror), (comm, num_to_ack, num_acked, ierror))
F08(failure_ack, (const int *comm, int *ierror), (comm, ierror))
F08(failure_get_acked, (const int *comm, int *failedgrp, int *ierror), (comm, failedgrp, ierror))
F08(agree, (const int *comm, int *flag, int *ierror), (comm, flag, ierror))
F08(iagree, (const int *comm, int *flag, int *request, int *ierror), (comm, flag, request, ierror))
F08(agree_failed, (const int *comm, int *failedgrp, int *ierror), (comm, failedgrp, ierror))
F08(shrink, (const int *comm, int *newcomm, int *ierror), (comm, newcomm, ierror))
F08(ishrink, (const int *comm, int *newcomm, int *request, int *ierror), (comm, newcomm, request, ierror))
F08(refill, (const int *comm, int *newcomm, int *ierror), (comm, newcomm, ierror))

#endif

