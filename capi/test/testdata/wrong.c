/* What the guide says of programs in which something is wrong: wrong WHAT, on four ranks. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi-ext.h"

static int rank, size;

static int class_of(int code)
{
	int class = -1;
	MPI_Error_class(code, &class);
	return class;
}

static void caught(int signal)
{
	(void)signal;
	static const char said[] = "the program's own handler\n";
	if (write(1, said, sizeof said - 1) < 0)
		_exit(4);
	_exit(3);
}

int main(int argc, char **argv)
{
	static char big[1000000];
	int data[20] = {0}, code, status;
	const char *what = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(what, "argument") == 0) {
		if (rank == 1)
			MPI_Send(data, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
	} else if (strcmp(what, "argument-returned") == 0) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		code = MPI_Send(data, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
		printf("rank %d: %s\n", rank, class_of(code) == MPI_ERR_RANK ? "MPI_ERR_RANK" : "another class");
	} else if (strcmp(what, "death") == 0) {
		if (rank == 1)
			raise(SIGKILL);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(what, "death-returned") == 0) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		if (rank == 1)
			raise(SIGKILL);
		code = MPI_Recv(data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		data[0] = rank == 0 ? 4711 : 0;
		if (MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS && data[0] != 4711)
			data[0] = -1;
		printf("rank %d: %s, broadcast %d\n", rank, class_of(code) == MPIX_ERR_PROC_FAILED ? "MPIX_ERR_PROC_FAILED" : "another class", data[0]);
		MPI_Comm left;
		MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
		MPI_Comm_size(left, &size);
		printf("rank %d: %d are left\n", rank, size);
	} else if (strcmp(what, "crash") == 0) {
		if (rank == 1)
			raise(SIGSEGV);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(what, "crash-handled") == 0) {
		signal(SIGSEGV, caught);
		if (rank == 1)
			raise(SIGSEGV);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(what, "message") == 0) {
		if (rank == 0)
			MPI_Send(data, 20, MPI_INT, 1, 7, MPI_COMM_WORLD);
		if (rank == 1)
			MPI_Recv(data, 10, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(what, "collective") == 0) {
		MPI_Bcast(data, rank == 2 ? 10 : 20, MPI_INT, 0, MPI_COMM_WORLD);
	} else if (strcmp(what, "hang") == 0) {
		if (rank == 0)
			MPI_Recv(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(big, sizeof big, MPI_CHAR, 2, 7, MPI_COMM_WORLD);
		if (rank == 2)
			MPI_Barrier(MPI_COMM_WORLD);
		for (;;)
			pause();
	} else if (strcmp(what, "no-finalize") == 0) {
		if (rank == 1)
			exit(0);
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(what, "child") == 0) {
		pid_t child = fork();
		if (child == 0)
			_exit(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : 5);
		waitpid(child, &status, 0);
		printf("rank %d: the child's call %s\n", rank, WIFEXITED(status) && WEXITSTATUS(status) == 5 ? "failed" : "didn't fail");
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(what, "ring") == 0) {
		for (int i = 0; i < 200; i++)
			MPI_Allreduce(&rank, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		printf("rank %d: %d\n", rank, data[0]);
	} else {
		return 9;
	}
	return MPI_Finalize();
}
