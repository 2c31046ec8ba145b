/* Declarations for the Fortran entries: see generate/main.go for Fortran's conventions, and
   support.c. */
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

/* ENTRY begins the entry of a procedure. pmpi_x_ is the procedure and mpi_x_ a weak alias, so
   that a profiling library can have its own mpi_x_. ENTRY_F08 begins one that serves the module
   mpi_f08, too: there it is called mpi_x_f08_. A handle of mpi_f08 is a structure of one integer,
   and its arguments are as those of mpif.h, but that the error code may be missing. */
#define ENTRY(result, name, params) \
	result p##name params;      \
	result name params __attribute__((weak, alias("p" #name))); \
	result p##name params
#define ENTRY_F08(result, name, params) \
	result p##name params;          \
	result p##name##f08_ params __attribute__((alias("p" #name))); \
	result name##f08_ params __attribute__((weak, alias("p" #name))); \
	result name params __attribute__((weak, alias("p" #name)));    \
	result p##name params

/* banyan_result gives the caller an error code, if it wants it. OPTIONAL does so at the begin of an
   entry that reads the code again. */
static inline void banyan_result(MPI_Fint *ierror, int code)
{
	if (ierror != NULL)
		*ierror = code;
}
#define OPTIONAL(ierror)         \
	MPI_Fint unwanted_error; \
	if (ierror == NULL)      \
	ierror = &unwanted_error

/* banyan_buffer, banyan_status and banyan_weights recognise the variables of
   mpif.h that stand for special values. */
void *banyan_buffer(void *p);
MPI_Status *banyan_status(MPI_Fint *p);
int *banyan_weights(MPI_Fint *p);

/* banyan_handles makes handles of n numbers; banyan_numbers frees them, and writes
   them back if numbers isn't NULL. */
void *banyan_handles(int n, const MPI_Fint *numbers);
void banyan_numbers(int n, void *handles, MPI_Fint *numbers);

/* banyan_string makes a C string of a Fortran string, without leading and trailing blanks. The
   caller frees it. banyan_blank does the reverse and pads with blanks. */
char *banyan_string(const char *s, size_t length);
void banyan_blank(char *s, size_t length, const char *from);

/* banyan_peers is the number of processes in an all-to-all. banyan_neighbours is the number of
   this process's neighbours, as destinations or as sources. */
int banyan_peers(MPI_Fint comm);
int banyan_neighbours(MPI_Fint comm, int destinations);

#endif
