/* Replicas of a rank mean different files, as with mkstemp: in MPI_File_open of all ranks, of one, or in
   MPI_File_delete. The job ends with an error that says so, whatever the error handler is. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[1000];
	int rank;
	MPI_File f;
	MPI_Init(&argc, &argv); /* its handler of files returns errors */
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof name, "%s/file-%ld", argv[2], (long)getpid());
	if (!strcmp(argv[1], "delete")) {
		FILE *made = fopen(name, "w");
		fclose(made);
		MPI_File_delete(name, MPI_INFO_NULL);
	} else if (!strcmp(argv[1], "alone")) {
		if (rank == 1)
			MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	} else {
		MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD); /* as a program that calls mkstemp does */
		MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	printf("goes on\n");
	MPI_Finalize();
	return 0;
}
