// The conversions between handles of C and of Fortran by their old names. mpi.h has macros for
// these, since the standard's ABI names toint and fromint only. But programs without a header look
// the functions up while they run: MPI.jl does. Integers of Fortran are int here.
#include <stdint.h>

#include "../abi/mpi.h"

// A macro of mpi.h may have the name, so the linker alone gets it.
#define NAMED(name) __asm__("MPI_" name)

// As in MPI_Comm_toint and its kin, which the library doesn't call by these names.
#define HANDLES(kind, type)                          \
	int kind##_c2f(type handle) NAMED(#kind "_c2f"); \
	type kind##_f2c(int handle) NAMED(#kind "_f2c"); \
	int kind##_c2f(type handle)                      \
	{                                                \
		return (int)(intptr_t)handle;                \
	}                                                \
	type kind##_f2c(int handle)                      \
	{                                                \
		return (type)(intptr_t)handle;               \
	}

HANDLES(Comm, MPI_Comm)
HANDLES(Errhandler, MPI_Errhandler)
HANDLES(File, MPI_File)
HANDLES(Group, MPI_Group)
HANDLES(Info, MPI_Info)
HANDLES(Message, MPI_Message)
HANDLES(Op, MPI_Op)
HANDLES(Request, MPI_Request)
HANDLES(Session, MPI_Session)
HANDLES(Type, MPI_Datatype)
HANDLES(Win, MPI_Win)

// A status is the same in memory everywhere.
#define STATUSES(name)                                                                \
	int status_##name(const MPI_Status *from, MPI_Status *to) NAMED("Status_" #name); \
	int status_##name(const MPI_Status *from, MPI_Status *to)                         \
	{                                                                                 \
		*to = *from;                                                                  \
		return MPI_SUCCESS;                                                           \
	}

STATUSES(c2f)
STATUSES(f2c)
STATUSES(c2f08)
STATUSES(f082c)
STATUSES(f2f08)
STATUSES(f082f)
