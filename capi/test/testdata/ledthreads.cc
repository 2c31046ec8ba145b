// ledthreads: a server whose OpenMP threads serve any client, and clients of several std::threads. Rank 0
// prints a hash of what all threads have seen.
#include <mpi.h>
#include <cstdio>
#include <thread>
#include <vector>
#include <omp.h>
int main(int argc, char **argv) {
	int provided, rank, size;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	unsigned h[8] = {0};
	if (rank == 0) {
		#pragma omp parallel num_threads(3)
		{
			int t = omp_get_thread_num();
			for (int i = 0; i < 20 * (size - 1); i++) {
				unsigned x;
				MPI_Status s;
				MPI_Recv(&x, 1, MPI_UNSIGNED, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
				h[t] = h[t] * 31 + x + s.MPI_SOURCE;
				MPI_Send(&h[t], 1, MPI_UNSIGNED, s.MPI_SOURCE, 2, MPI_COMM_WORLD);
			}
		}
	} else {
		std::vector<std::thread> v;
		for (int t = 0; t < 3; t++)
			v.emplace_back([&, t] {
				unsigned x = rank;
				for (int i = 0; i < 20; i++) {
					MPI_Send(&x, 1, MPI_UNSIGNED, 0, 1, MPI_COMM_WORLD);
					MPI_Recv(&x, 1, MPI_UNSIGNED, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				}
				h[t] = x;
			});
		for (auto &t : v)
			t.join();
	}
	unsigned all[64][8];
	MPI_Gather(h, 8, MPI_UNSIGNED, all, 8, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		unsigned seen = 0;
		for (int r = 0; r < size; r++)
			for (int t = 0; t < 3; t++)
				seen = seen * 31 + all[r][t];
		printf("threads %x\n", seen);
	}
	MPI_Finalize();
}
