// check.h is for programs that check themselves. CHECK counts failures and prints them. END is the
// value that main returns.
#include <mpi.h>
#include <stdio.h>

static int wrong;

#define CHECK(is)                                                                 \
	do {                                                                      \
		if (!(is) && ++wrong <= 20)                                       \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #is); \
	} while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

#define END (MPI_Finalize() != MPI_SUCCESS || wrong > 0)

static inline int class_of(int code)
{
	int class;
	MPI_Error_class(code, &class);
	return class;
}
