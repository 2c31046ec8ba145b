/* Data representations of Fortran programs: callbacks take all arguments by reference. */
#include "support.h"

/* The procedures of a representation. C's callbacks get it as their extra state. It is never freed,
 * as MPI has no call that ends a representation. */
struct fortran_datarep {
	/* Counts are INTEGERs, or of kind MPI_COUNT_KIND. */
	void (*read)(void *user, MPI_Fint *type, void *count, void *file, MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierror);
	void (*write)(void *user, MPI_Fint *type, void *count, void *file, MPI_Offset *position, MPI_Aint *extra, MPI_Fint *ierror);
	void (*extent)(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierror);
	MPI_Aint extra;
};

static int from_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
	struct fortran_datarep *d = state;
	MPI_Fint error = MPI_SUCCESS, number = NUMBER(type);
	d->read(user, &number, &count, file, &position, &d->extra, &error);
	return error;
}

static int to_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
	struct fortran_datarep *d = state;
	MPI_Fint error = MPI_SUCCESS, number = NUMBER(type);
	d->write(user, &number, &count, file, &position, &d->extra, &error);
	return error;
}

static int from_file_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *state)
{
	struct fortran_datarep *d = state;
	MPI_Fint error = MPI_SUCCESS, number = NUMBER(type);
	d->read(user, &number, &count, file, &position, &d->extra, &error);
	return error;
}

static int to_file_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *state)
{
	struct fortran_datarep *d = state;
	MPI_Fint error = MPI_SUCCESS, number = NUMBER(type);
	d->write(user, &number, &count, file, &position, &d->extra, &error);
	return error;
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
	struct fortran_datarep *d = state;
	MPI_Fint error = MPI_SUCCESS, number = NUMBER(type);
	d->extent(&number, extent, &d->extra, &error);
	return error;
}

/* MPI_CONVERSION_FN_NULL: it is never called, only passed. */
void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_(void) {}

static struct fortran_datarep *representation(void (*read_fn)(void), void (*write_fn)(void), void (*extent_fn)(void), MPI_Aint extra)
{
	struct fortran_datarep *d = malloc(sizeof *d);
	if (d == NULL)
		abort();
	d->read = (void (*)(void *, MPI_Fint *, void *, void *, MPI_Offset *, MPI_Aint *, MPI_Fint *))read_fn;
	d->write = (void (*)(void *, MPI_Fint *, void *, void *, MPI_Offset *, MPI_Aint *, MPI_Fint *))write_fn;
	d->extent = (void (*)(MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *))extent_fn;
	d->extra = extra;
	return d;
}

#define GIVEN(fn, callback) (fn == mpi_conversion_fn_null_ ? NULL : callback)

ENTRY_F08(void, mpi_register_datarep_,
	(char *name, void (*read_fn)(void), void (*write_fn)(void), void (*extent_fn)(void), MPI_Aint *extra, MPI_Fint *ierror, size_t length))
{
	OPTIONAL(ierror);
	struct fortran_datarep *d = representation(read_fn, write_fn, extent_fn, *extra);
	char *c_name = banyan_string(name, length);
	*ierror = PMPI_Register_datarep(c_name, GIVEN(read_fn, from_file), GIVEN(write_fn, to_file), extent_of, d);
	if (*ierror != MPI_SUCCESS)
		free(d);
	free(c_name);
}

ENTRY_F08(void, mpi_register_datarep_c_,
	(char *name, void (*read_fn)(void), void (*write_fn)(void), void (*extent_fn)(void), MPI_Aint *extra, MPI_Fint *ierror, size_t length))
{
	OPTIONAL(ierror);
	struct fortran_datarep *d = representation(read_fn, write_fn, extent_fn, *extra);
	char *c_name = banyan_string(name, length);
	*ierror = PMPI_Register_datarep_c(c_name, GIVEN(read_fn, from_file_c), GIVEN(write_fn, to_file_c), extent_of, d);
	if (*ierror != MPI_SUCCESS)
		free(d);
	free(c_name);
}
