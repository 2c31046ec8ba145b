// Error handlers of the program are called from C while no Go function is on the stack, so
// that they may jump, throw or exit.

#include "banyan.h"

int banyan_raise(int code)
{
	uintptr_t function, object;
	int error, after, given;
	banyan_raised(code, &function, &object, &error, &after);
	// The object is a handle of the handler's kind. Handles of all kinds are pointers.
	MPI_Comm handle = (MPI_Comm)object;
	given = error;
	((MPI_Comm_errhandler_function *)function)(&handle, &error);
	return error == given ? after : error; // the handler may say what the function returns
}
