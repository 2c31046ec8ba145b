/* A program with safe points, which any MPI compiles. It prints whether the library checked the
   arguments of each call. */
#include <stdio.h>
#include <string.h>

#include "mpi-ext.h"

int main(int argc, char **argv)
{
	int step = 0, restored = 7, code[9];
	double plate[16] = {0};
	char lengthy[300];
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (MPIX_State_register("step", &step, 1, MPI_INT) || MPIX_State_register("plate", plate, 16, MPI_DOUBLE) ||
		MPIX_State_register("nothing", NULL, 0, MPI_DOUBLE))
		return 2;
	if (MPIX_Expect_safepoints(5))
		return 4;
	for (; step < 5; step++)
		if (MPIX_Safepoint(step ? &restored : NULL) || (step && restored))
			return 3;

	MPI_Datatype gaps;
	MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
	MPI_Type_commit(&gaps);
	memset(lengthy, 'x', sizeof lengthy - 1);
	lengthy[sizeof lengthy - 1] = 0;
	code[0] = MPIX_State_register("plate", plate, 16, MPI_DOUBLE);
	code[1] = MPIX_State_register("", plate, 16, MPI_DOUBLE);
	code[2] = MPIX_State_register(lengthy, plate, 16, MPI_DOUBLE);
	code[3] = MPIX_State_register("gaps", plate, 1, gaps);
	code[4] = MPIX_State_register("few", plate, -1, MPI_DOUBLE);
	code[5] = MPIX_State_register("none", NULL, 1, MPI_DOUBLE);
	code[6] = MPIX_State_unregister("other");
	code[7] = MPIX_State_unregister("plate");
	code[8] = MPIX_Expect_safepoints(-1);
	for (int i = 0; i < 9; i++) {
		int kind = 0;
		MPI_Error_class(code[i], &kind);
		printf("%s ", kind == MPI_SUCCESS ? "success" : kind == MPI_ERR_ARG ? "arg" : kind == MPI_ERR_TYPE ? "type" :
			kind == MPI_ERR_COUNT ? "count" : kind == MPI_ERR_BUFFER ? "buffer" : "?");
	}
	printf("\n");
	MPI_Type_free(&gaps);
	MPI_Finalize();
	return 0;
}
