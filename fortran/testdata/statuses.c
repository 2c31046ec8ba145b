/* The C side of statuses.f90: each conversion once, with a change after it. */
#include <mpi.h>

void c_changes(MPI_F08_status *f08)
{
	MPI_Status c;
	MPI_Fint f[MPI_F_STATUS_SIZE];
	MPI_Status_f082c(f08, &c);
	c.MPI_SOURCE += 10;
	MPI_Status_c2f(&c, f);
	f[MPI_F_TAG] += 20;
	MPI_Status_f2f08(f, f08);
	f08->MPI_ERROR += 30;
	MPI_Status_f082f(f08, f);
	f[MPI_F_SOURCE] += 100;
	MPI_Status_f2c(f, &c);
	c.MPI_TAG += 200;
	MPI_Status_c2f08(&c, f08);
}

/* 1: MPI_STATUS_IGNORE, 2: MPI_STATUSES_IGNORE, 0: a status. */
int f08_kind(MPI_F08_status *status)
{
	return status == MPI_F08_STATUS_IGNORE ? 1 : status == MPI_F08_STATUSES_IGNORE ? 2 : 0;
}

void f_kind_(MPI_Fint *status, MPI_Fint *kind)
{
	*kind = status == MPI_F_STATUS_IGNORE ? 1 : status == MPI_F_STATUSES_IGNORE ? 2 : 0;
}
