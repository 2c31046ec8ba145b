/* Sections of arrays as buffers. The elements of a section form a sequence, in the order of
   Fortran's arrays: that is the buffer of the call. */
#include "section.h"

#include <stdio.h>
#include <string.h>

int banyan_whole(const struct banyan_descriptor *d)
{
	ptrdiff_t next = d->size;
	for (int i = 0; i < d->rank; i++) {
		if (d->dim[i].extent < 0)
			return 1; /* the last dimension of an array whose size nobody knows, which is in one piece */
		if (d->dim[i].extent != 1 && d->dim[i].stride != next)
			return d->dim[i].extent == 0;
		next *= d->dim[i].extent;
	}
	return 1;
}

static size_t elements(const struct banyan_descriptor *d, int rank)
{
	size_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= d->dim[i].extent;
	return n;
}

/* first is a datatype of the first m elements of the first rank dimensions. The caller frees it. */
static int first(const struct banyan_descriptor *d, int rank, MPI_Count m, MPI_Datatype leaf, MPI_Datatype *made)
{
	if (rank == 0)
		return PMPI_Type_dup(leaf, made);
	MPI_Count inner = elements(d, rank - 1);
	MPI_Count full = inner > 0 ? m / inner : 0, rest = inner > 0 ? m % inner : 0;
	MPI_Aint stride = d->dim[rank - 1].stride;
	MPI_Datatype one, some, both[2];
	int error = first(d, rank - 1, inner, leaf, &one);
	if (error != MPI_SUCCESS)
		return error;
	error = PMPI_Type_create_hvector_c(full, 1, stride, one, &some);
	PMPI_Type_free(&one);
	if (error != MPI_SUCCESS || rest == 0) {
		*made = some;
		return error;
	}
	error = first(d, rank - 1, rest, leaf, &one);
	if (error == MPI_SUCCESS) {
		const MPI_Count lengths[2] = {1, 1}, places[2] = {0, full * stride};
		both[0] = some, both[1] = one;
		error = PMPI_Type_create_struct_c(2, lengths, places, both, made);
		PMPI_Type_free(&one);
	}
	PMPI_Type_free(&some);
	return error;
}

struct banyan_part banyan_part(const struct banyan_descriptor *d, MPI_Count count, MPI_Datatype type)
{
	struct banyan_part p = {banyan_buffer(d->base), count, type, 0};
	if (banyan_whole(d) || count <= 0 || type == MPI_DATATYPE_NULL)
		return p;
	MPI_Count lower, extent, size, bytes;
	if (PMPI_Type_get_extent_c(type, &lower, &extent) != MPI_SUCCESS || PMPI_Type_size_c(type, &size) != MPI_SUCCESS)
		return p;
	p.type = MPI_DATATYPE_NULL;
	if (size == 0 || lower != 0 || extent != size || __builtin_mul_overflow(count, size, &bytes))
		return p; /* where its gaps lie between elements of a section nobody can say */
	MPI_Datatype leaf, made;
	int error = MPI_SUCCESS;
	if ((MPI_Count)d->size % size == 0 && bytes % d->size == 0)
		error = PMPI_Type_contiguous_c(d->size / size, type, &leaf);
	else if (bytes % d->size == 0)
		error = PMPI_Type_contiguous_c(d->size, MPI_BYTE, &leaf); /* an item has several elements */
	else
		return p;
	if (error != MPI_SUCCESS)
		return p;
	MPI_Count m = bytes / d->size;
	if (m > (MPI_Count)elements(d, d->rank)) {
		PMPI_Type_free(&leaf);
		return p; /* more than there is */
	}
	error = first(d, d->rank, m, leaf, &made);
	PMPI_Type_free(&leaf);
	if (error == MPI_SUCCESS && PMPI_Type_commit(&made) == MPI_SUCCESS)
		p.type = made, p.count = 1, p.own = 1;
	return p;
}

void banyan_release(struct banyan_part *p)
{
	if (p->own)
		PMPI_Type_free(&p->type);
}

/* move copies the elements of the first rank dimensions to a place in one piece, or back, and
   returns the end of that place. */
static char *move(const struct banyan_descriptor *d, int rank, char *element, char *piece, int back)
{
	if (rank == 0) {
		memcpy(back ? element : piece, back ? piece : element, d->size);
		return piece + d->size;
	}
	for (ptrdiff_t i = 0; i < d->dim[rank - 1].extent; i++)
		piece = move(d, rank - 1, element + i * d->dim[rank - 1].stride, piece, back);
	return piece;
}

void *banyan_gathered(const struct banyan_descriptor *d)
{
	if (banyan_whole(d))
		return banyan_buffer(d->base);
	char *copy = malloc(elements(d, d->rank) * d->size);
	if (copy == NULL)
		abort();
	move(d, d->rank, d->base, copy, 0);
	return copy;
}

void banyan_scattered(const struct banyan_descriptor *d, void *copy, int back)
{
	if (banyan_whole(d))
		return;
	if (back)
		move(d, d->rank, d->base, copy, 1);
	free(copy);
}

void banyan_refuse(MPI_Fint *ierror, const char *function, const char *argument)
{
	fprintf(stderr, "%s: %s is a section of an array whose elements don't lie one after another; pass an array that is in one piece\n",
		function, argument);
	PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_BUFFER);
	banyan_result(ierror, MPI_ERR_BUFFER);
}

/* The size of a variable of any type. */
ENTRY(void, mpi_sizeof_f08ts, (struct banyan_descriptor *x, MPI_Fint *size, MPI_Fint *ierror))
{
	*size = (MPI_Fint)x->size;
	banyan_result(ierror, MPI_SUCCESS);
}

ENTRY(void, mpi_f_sync_reg_f08ts, (struct banyan_descriptor *buffer)) { (void)buffer; }
