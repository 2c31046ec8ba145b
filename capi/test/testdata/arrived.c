/* A program that is linked with this file makes a file in the directory ARRIVED_DIR, named after
   the process's id, when MPI_Init has returned. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Init(int *argc, char ***argv)
{
	int code = PMPI_Init(argc, argv);
	char name[4096];
	snprintf(name, sizeof name, "%s/%ld", getenv("ARRIVED_DIR"), (long)getpid());
	FILE *f = fopen(name, "w");
	if (f != NULL)
		fclose(f);
	return code;
}
