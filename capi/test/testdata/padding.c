// Structs that are sent as bytes, with whatever their padding holds; and an array of numbers, of
// which one is a process's own.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi.h"

struct particle {
	char kind;
	double place[2];
	short charge;
};

int main(int argc, char **argv)
{
	struct particle p[4];
	int all[6] = {0}, sum[6], mine = getpid();
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 4; i++) {
		for (size_t k = 0; k < sizeof p[i] / sizeof mine; k++)
			memcpy((char *)&p[i] + k * sizeof mine, &mine, sizeof mine);
		p[i].kind = 1;
		p[i].place[0] = p[i].place[1] = i;
		p[i].charge = 2;
	}
	MPI_Bcast(p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
	all[4] = mine;
	MPI_Allreduce(all, sum, 6, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
