// spawner spawns a job of itself, each rank of which spawns one more, and all wait until a file is
// there.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
	MPI_Comm parent, children;
	int more = atoi(argv[2]);
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_get_parent(&parent));
	if (more > 0) {
		char *args[] = {argv[1], more > 1 ? "1" : "0", NULL};
		OK(MPI_Comm_spawn(argv[0], args, more, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE));
	}
	struct timespec pause = {0, 10000000};
	for (int k = 0; access(argv[1], F_OK) != 0 && k < 4000; k++)
		nanosleep(&pause, NULL);
	return END;
}
