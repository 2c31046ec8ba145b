// Error handlers of the program are called from C, with no Go function under way: they
// may jump, throw or exit.

#include "banyan.h"

int banyan_raise(int code)
{
	uintptr_t function, object;
	int error, after;
	banyan_raised(code, &function, &object, &error, &after);
	// The object is a handle of whatever kind the handler is for; all are pointers.
	MPI_Comm handle = (MPI_Comm)object;
	((MPI_Comm_errhandler_function *)function)(&handle, &error);
	return after;
}
