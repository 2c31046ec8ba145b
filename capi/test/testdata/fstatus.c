/* A program without Fortran: no status of Fortran is ignored, and conversions need no library for it. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
	MPI_Status c = {.MPI_SOURCE = 5}, back;
	MPI_F08_status f08;
	MPI_Status_c2f08(&c, &f08);
	MPI_Status_f082c(&f08, &back);
	if (back.MPI_SOURCE == 5 && &f08 != MPI_F08_STATUS_IGNORE && !MPI_F_STATUS_IGNORE && !MPI_F08_STATUSES_IGNORE)
		printf("good\n");
	return 0;
}
