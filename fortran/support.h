/* What the Fortran entries have in common: see generate/main.go for what Fortran
   wants, and support.c. */
#ifndef BANYAN_FORTRAN_SUPPORT_H
#define BANYAN_FORTRAN_SUPPORT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int MPI_Fint;

/* A handle is as large as a pointer in C and a default INTEGER in Fortran. The
   library's handles fit. */
#define HANDLE(type, number) ((type)(intptr_t)(number))
#define NUMBER(handle) ((MPI_Fint)(intptr_t)(handle))

/* ENTRY begins the entry of a procedure: pmpi_x_ is the real one, and mpi_x_ a weak
   name for it, so that a profiling library can put its own in front. */
#define ENTRY(result, name, params) \
	result p##name params;      \
	result name params __attribute__((weak, alias("p" #name))); \
	result p##name params

/* banyan_buffer, banyan_status and banyan_weights recognise the variables of
   mpif.h that stand for special values. */
void *banyan_buffer(void *p);
MPI_Status *banyan_status(MPI_Fint *p);
int *banyan_weights(MPI_Fint *p);

/* banyan_handles makes handles of n numbers; banyan_numbers frees them, and writes
   them back if numbers isn't NULL. */
void *banyan_handles(int n, const MPI_Fint *numbers);
void banyan_numbers(int n, void *handles, MPI_Fint *numbers);

/* banyan_string makes a C string of a Fortran one, without leading and trailing
   blanks, to be freed. banyan_blank does the reverse, and pads with blanks. */
char *banyan_string(const char *s, size_t length);
void banyan_blank(char *s, size_t length, const char *from);

/* banyan_peers is how many processes an all-to-all has to do with, and
   banyan_neighbours how many one among neighbours has, as destinations or sources. */
int banyan_peers(MPI_Fint comm);
int banyan_neighbours(MPI_Fint comm, int destinations);

#endif
