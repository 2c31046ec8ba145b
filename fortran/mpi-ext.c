/* mpi-ext.c: mpi-ext.h for Fortran programs; see mpif-ext.h. It is part of Banyan's Fortran
   library. Under another MPI, compile it with the program, by that MPI's mpicc: its
   procedures do nothing then. */
#include <stdlib.h>
#include <string.h>

#include "mpi-ext.h"

#ifdef MPI_ABI_VERSION
#define TYPE(number) MPI_Type_fromint(number)
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
