// Looks the conversions between handles of C and Fortran up while it runs, as programs without a
// header do, and compares them with those of mpi.h.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

static int failed;

#define CONVERT(kind, type, handle)                                                        \
	do {                                                                                   \
		int (*c2f)(type) = (int (*)(type))dlsym(RTLD_DEFAULT, "MPI_" #kind "_c2f");        \
		type (*f2c)(int) = (type (*)(int))dlsym(RTLD_DEFAULT, "MPI_" #kind "_f2c");        \
		if (!c2f || !f2c || c2f(handle) != MPI_##kind##_toint(handle) || f2c(c2f(handle)) != handle) { \
			printf("%s isn't converted\n", #kind);                                         \
			failed = 1;                                                                    \
		}                                                                                  \
	} while (0)

static void status(const char *name)
{
	MPI_Status from, to;
	int (*copy)(const MPI_Status *, MPI_Status *) = (int (*)(const MPI_Status *, MPI_Status *))dlsym(RTLD_DEFAULT, name);
	memset(&from, 7, sizeof from);
	memset(&to, 0, sizeof to);
	if (!copy || copy(&from, &to) != MPI_SUCCESS || memcmp(&from, &to, sizeof to) != 0) {
		printf("%s fails\n", name);
		failed = 1;
	}
}

int main(int argc, char **argv)
{
	MPI_Comm pair;
	MPI_Request request;
	MPI_Datatype three;
	int unused;
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &pair);
	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Irecv(&unused, 1, MPI_INT, MPI_ANY_SOURCE, 0, pair, &request);
	CONVERT(Comm, MPI_Comm, pair);
	CONVERT(Errhandler, MPI_Errhandler, MPI_ERRORS_RETURN);
	CONVERT(File, MPI_File, MPI_FILE_NULL);
	CONVERT(Group, MPI_Group, MPI_GROUP_EMPTY);
	CONVERT(Info, MPI_Info, MPI_INFO_ENV);
	CONVERT(Message, MPI_Message, MPI_MESSAGE_NO_PROC);
	CONVERT(Op, MPI_Op, MPI_SUM);
	CONVERT(Request, MPI_Request, request);
	CONVERT(Session, MPI_Session, MPI_SESSION_NULL);
	CONVERT(Type, MPI_Datatype, three);
	CONVERT(Win, MPI_Win, MPI_WIN_NULL);
	status("MPI_Status_c2f");
	status("MPI_Status_f2c");
	status("MPI_Status_c2f08");
	status("MPI_Status_f082c");
	status("MPI_Status_f2f08");
	status("MPI_Status_f082f");
	MPI_Cancel(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Type_free(&three);
	MPI_Comm_free(&pair);
	MPI_Finalize();
	return failed;
}
