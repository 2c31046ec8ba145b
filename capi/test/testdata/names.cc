// A call in a function of C++, whose symbol nobody can read.

#include "mpi.h"

namespace clocks {

template <typename T> struct Sum {
	T value;
	__attribute__((noinline)) void add(MPI_Datatype type);
};

template <typename T> void Sum<T>::add(MPI_Datatype type)
{
	T mine = value;
	MPI_Allreduce(&mine, &value, 1, type, MPI_SUM, MPI_COMM_WORLD);
}

}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	clocks::Sum<double> sum{MPI_Wtime()};
	sum.add(MPI_DOUBLE);
	MPI_Finalize();
	return sum.value < 0;
}
