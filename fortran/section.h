/* Buffers of the module mpi_f08: descriptors of arrays and of their sections. See section.c. */
#ifndef BANYAN_FORTRAN_SECTION_H
#define BANYAN_FORTRAN_SECTION_H

#include "support.h"

/* A CFI_cdesc_t of Fortran 2018 as gfortran has it since release 9, for which there is no header
   where there is no gfortran. */
struct banyan_descriptor {
	char *base;
	size_t size; /* of an element */
	int version;
	signed char rank, attribute;
	short type;
	struct {
		ptrdiff_t lower, extent, stride; /* the stride in bytes; an extent of -1 is unknown */
	} dim[];
};

/* banyan_whole says whether the elements lie one after another. */
int banyan_whole(const struct banyan_descriptor *d);

/* A part is count elements of a datatype, as a message has them. banyan_part describes a section
   by a datatype of its own. If it can't, the type is MPI_DATATYPE_NULL, which all procedures
   refuse. banyan_release frees the type; what still uses it has it. */
struct banyan_part {
	void *address;
	MPI_Count count;
	MPI_Datatype type;
	int own;
};
struct banyan_part banyan_part(const struct banyan_descriptor *d, MPI_Count count, MPI_Datatype type);
void banyan_release(struct banyan_part *p);

/* banyan_gathered is the array in one piece: itself, or a copy. banyan_scattered frees the copy, and
   writes it back before, if back says so. */
void *banyan_gathered(const struct banyan_descriptor *d);
void banyan_scattered(const struct banyan_descriptor *d, void *copy, int back);

/* banyan_refuse ends a procedure that can't take a section as this argument: MPI_ERR_BUFFER. */
void banyan_refuse(MPI_Fint *ierror, const char *function, const char *argument);

#endif
