/* Generalised requests of Fortran programs: callbacks take all arguments by reference. */
#include "support.h"

/* C's callbacks get a fortran_grequest as their extra state. The last callback, free, frees it. */
struct fortran_grequest {
	void (*query)(MPI_Aint *extra, MPI_Fint *status, MPI_Fint *ierror);
	void (*free)(MPI_Aint *extra, MPI_Fint *ierror);
	void (*cancel)(MPI_Aint *extra, MPI_Fint *complete, MPI_Fint *ierror);
	MPI_Aint extra;
};

static int query(void *state, MPI_Status *status)
{
	struct fortran_grequest *g = state;
	MPI_Fint error = MPI_SUCCESS;
	g->query(&g->extra, (MPI_Fint *)status, &error);
	return error;
}

static int release(void *state)
{
	struct fortran_grequest *g = state;
	MPI_Fint error = MPI_SUCCESS;
	g->free(&g->extra, &error);
	free(g);
	return error;
}

static int cancel(void *state, int complete)
{
	struct fortran_grequest *g = state;
	MPI_Fint error = MPI_SUCCESS, is = complete != 0;
	g->cancel(&g->extra, &is, &error);
	return error;
}

ENTRY_F08(void, mpi_grequest_start_,
	(void (*query_fn)(void), void (*free_fn)(void), void (*cancel_fn)(void), MPI_Aint *extra, MPI_Fint *request, MPI_Fint *ierror))
{
	OPTIONAL(ierror);
	struct fortran_grequest *g = malloc(sizeof *g);
	MPI_Request c_request = MPI_REQUEST_NULL;
	if (g == NULL)
		abort();
	g->query = (void (*)(MPI_Aint *, MPI_Fint *, MPI_Fint *))query_fn;
	g->free = (void (*)(MPI_Aint *, MPI_Fint *))free_fn;
	g->cancel = (void (*)(MPI_Aint *, MPI_Fint *, MPI_Fint *))cancel_fn;
	g->extra = *extra;
	*ierror = PMPI_Grequest_start(query, release, cancel, g, &c_request);
	if (*ierror != MPI_SUCCESS)
		free(g);
	*request = NUMBER(c_request);
}
