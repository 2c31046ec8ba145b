/* The handwritten part of the library's Fortran side: see generate/main.go. */
#include "support.h"

#include <string.h>

/* The variables of mpif.h. They are common blocks, so the program's are the same variables. */
MPI_Fint banyan_mpi_bottom_;
MPI_Fint banyan_mpi_in_place_;
MPI_Fint banyan_mpi_buffer_automatic_;
MPI_Fint banyan_mpi_status_ignore_[8];
MPI_Fint banyan_mpi_statuses_ignore_[8];
MPI_Fint banyan_mpi_errcodes_ignore_[1];
MPI_Fint banyan_mpi_unweighted_[1];
MPI_Fint banyan_mpi_weights_empty_[1];
char banyan_mpi_argv_null_[1];
char banyan_mpi_argvs_null_[1];

void *banyan_buffer(void *p)
{
	if (p == &banyan_mpi_bottom_)
		return MPI_BOTTOM;
	if (p == &banyan_mpi_in_place_)
		return MPI_IN_PLACE;
	if (p == &banyan_mpi_buffer_automatic_)
		return MPI_BUFFER_AUTOMATIC;
	return p;
}

MPI_Status *banyan_status(MPI_Fint *p)
{
	if (p == banyan_mpi_status_ignore_ || p == banyan_mpi_statuses_ignore_)
		return MPI_STATUS_IGNORE;
	return (MPI_Status *)p; /* MPI_Status is eight ints, as in mpif.h */
}

int *banyan_weights(MPI_Fint *p)
{
	if (p == banyan_mpi_unweighted_)
		return MPI_UNWEIGHTED;
	if (p == banyan_mpi_weights_empty_)
		return MPI_WEIGHTS_EMPTY;
	return p;
}

void *banyan_handles(int n, const MPI_Fint *numbers)
{
	intptr_t *handles = malloc((n > 0 ? n : 1) * sizeof *handles);
	if (handles == NULL)
		abort();
	for (int i = 0; i < n; i++)
		handles[i] = numbers[i];
	return handles;
}

void banyan_numbers(int n, void *handles, MPI_Fint *numbers)
{
	if (numbers != NULL)
		for (int i = 0; i < n; i++)
			numbers[i] = (MPI_Fint)((intptr_t *)handles)[i];
	free(handles);
}

char *banyan_string(const char *s, size_t length)
{
	while (length > 0 && *s == ' ')
		s++, length--;
	while (length > 0 && s[length - 1] == ' ')
		length--;
	char *copy = malloc(length + 1);
	if (copy == NULL)
		abort();
	memcpy(copy, s, length);
	copy[length] = 0;
	return copy;
}

void banyan_blank(char *s, size_t length, const char *from)
{
	size_t n = strlen(from);
	if (n > length)
		n = length;
	memcpy(s, from, n);
	memset(s + n, ' ', length - n);
}

int banyan_peers(MPI_Fint number)
{
	MPI_Comm comm = HANDLE(MPI_Comm, number);
	int inter = 0, n = 0;
	if (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter)
		PMPI_Comm_remote_size(comm, &n);
	else
		PMPI_Comm_size(comm, &n);
	return n;
}

int banyan_neighbours(MPI_Fint number, int destinations)
{
	MPI_Comm comm = HANDLE(MPI_Comm, number);
	int kind = MPI_UNDEFINED, n = 0, rank = 0, in = 0, out = 0, weighted;
	PMPI_Topo_test(comm, &kind);
	switch (kind) {
	case MPI_CART:
		PMPI_Cartdim_get(comm, &n);
		return 2 * n;
	case MPI_GRAPH:
		PMPI_Comm_rank(comm, &rank);
		PMPI_Graph_neighbors_count(comm, rank, &n);
		return n;
	case MPI_DIST_GRAPH:
		PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
		return destinations ? out : in;
	}
	return 0;
}

ENTRY_F08(void, mpi_init_, (MPI_Fint *ierror)) { banyan_result(ierror, PMPI_Init(NULL, NULL)); }

ENTRY_F08(void, mpi_init_thread_, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror))
{
	banyan_result(ierror, PMPI_Init_thread(NULL, NULL, *required, provided));
}

ENTRY_F08(void, mpi_pcontrol_, (MPI_Fint *level)) { PMPI_Pcontrol(*level); }

ENTRY_F08(double, mpi_wtime_, (void)) { return PMPI_Wtime(); }
ENTRY_F08(double, mpi_wtick_, (void)) { return PMPI_Wtick(); }

/* mpif.h and the module mpi have no use for the address of the buffer, so it isn't returned. The
   module mpi_f08 has: there it is a TYPE(C_PTR). */
ENTRY(void, mpi_buffer_detach_, (void *buffer, MPI_Fint *size, MPI_Fint *ierror))
{
	void *address;
	(void)buffer;
	banyan_result(ierror, PMPI_Buffer_detach(&address, size));
}

#define DETACH(type, name, Name)                                                                            \
	ENTRY(void, mpi_##name##_detach_buffer_, (MPI_Fint *object, void *buffer, MPI_Fint *size, MPI_Fint *ierror)) \
	{                                                                                                   \
		void *address;                                                                              \
		(void)buffer;                                                                               \
		banyan_result(ierror, PMPI_##Name##_detach_buffer(HANDLE(type, *object), &address, size));  \
	}                                                                                                   \
	ENTRY(void, mpi_##name##_detach_buffer_f08_, (MPI_Fint *object, void **buffer, MPI_Fint *size, MPI_Fint *ierror)) \
	{                                                                                                   \
		banyan_result(ierror, PMPI_##Name##_detach_buffer(HANDLE(type, *object), buffer, size));    \
	}                                                                                                   \
	ENTRY(void, mpi_##name##_detach_buffer_c_f08_, (MPI_Fint *object, void **buffer, MPI_Count *size, MPI_Fint *ierror)) \
	{                                                                                                   \
		banyan_result(ierror, PMPI_##Name##_detach_buffer_c(HANDLE(type, *object), buffer, size));  \
	}

DETACH(MPI_Comm, comm, Comm)
DETACH(MPI_Session, session, Session)

ENTRY(void, mpi_buffer_detach_f08_, (void **buffer, MPI_Fint *size, MPI_Fint *ierror))
{
	banyan_result(ierror, PMPI_Buffer_detach(buffer, size));
}

ENTRY(void, mpi_buffer_detach_c_f08_, (void **buffer, MPI_Count *size, MPI_Fint *ierror))
{
	banyan_result(ierror, PMPI_Buffer_detach_c(buffer, size));
}

/* Programs call this so that the compiler doesn't move accesses to a buffer across it. The call
   itself is enough. */
ENTRY(void, mpi_f_sync_reg_, (void *buffer)) { (void)buffer; }

/* Both kinds of status are the same eight integers. */
static void copy_status(const MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)
{
	memcpy(to, from, 8 * sizeof *to);
	banyan_result(ierror, MPI_SUCCESS);
}
ENTRY(void, mpi_status_f2f08_f08_, (MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)) { copy_status(from, to, ierror); }
ENTRY(void, mpi_status_f082f_f08_, (MPI_Fint *from, MPI_Fint *to, MPI_Fint *ierror)) { copy_status(from, to, ierror); }

/* The operators of mpi_f08's handles. */
#define COMPARE(name)                                                                          \
	MPI_Fint banyan_##name##_equal_(MPI_Fint *a, MPI_Fint *b) { return *a == *b; }         \
	MPI_Fint banyan_##name##_unequal_(MPI_Fint *a, MPI_Fint *b) { return *a != *b; }

COMPARE(comm)
COMPARE(group)
COMPARE(datatype)
COMPARE(op)
COMPARE(request)
COMPARE(info)
COMPARE(errhandler)
COMPARE(message)
COMPARE(win)
COMPARE(file)
COMPARE(session)
