/* NULL where a result is to be stored is an error of class MPI_ERR_ARG, whether C or Go would do the work.
   Handlers may say what a function returns. Each rank says "good". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;

static void is(int line, int code, int want) {
	int class;
	MPI_Error_class(code, &class);
	if (class != want) printf("line %d: class %d, not %d\n", line, class, want), failed = 1;
}
#define ARG(call) is(__LINE__, (call), MPI_ERR_ARG)
#define OK(call) is(__LINE__, (call), MPI_SUCCESS)

static int calls;

static void forgives(MPI_Comm *c, int *code, ...) {
	(void)c;
	calls++;
	*code = MPI_SUCCESS;
}

static void forgives_file(MPI_File *f, int *code, ...) {
	(void)f;
	calls++;
	*code = MPI_SUCCESS;
}

/* Point-to-point calls and those about their requests. With several ranks the lane of C has the messages. */
static void messages(void) {
	int rank, size, in = -1, out, flag, indices[2];
	MPI_Status status;
	MPI_Count c;
	MPI_Request r[2];
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	ARG(MPI_Isend(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD, NULL));
	ARG(MPI_Isend_c(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD, NULL));
	ARG(MPI_Irecv(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, NULL));
	ARG(MPI_Irecv_c(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, NULL));
	ARG(MPI_Iprobe(left, 5, MPI_COMM_WORLD, NULL, &status));
	OK(MPI_Irecv(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &r[0]));
	OK(MPI_Isend(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &r[1]));
	ARG(MPI_Wait(NULL, &status));
	ARG(MPI_Test(NULL, &flag, &status));
	ARG(MPI_Test(&r[0], NULL, &status));
	ARG(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
	ARG(MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
	ARG(MPI_Testall(2, r, NULL, MPI_STATUSES_IGNORE));
	ARG(MPI_Waitany(2, r, NULL, &status));
	ARG(MPI_Waitany(2, NULL, &out, &status));
	ARG(MPI_Testany(2, r, NULL, &flag, &status));
	ARG(MPI_Testany(2, r, &out, NULL, &status));
	ARG(MPI_Testany(2, NULL, &out, &flag, &status));
	ARG(MPI_Waitsome(2, r, NULL, indices, MPI_STATUSES_IGNORE));
	ARG(MPI_Waitsome(2, r, &out, NULL, MPI_STATUSES_IGNORE));
	ARG(MPI_Testsome(2, r, NULL, indices, MPI_STATUSES_IGNORE));
	ARG(MPI_Testsome(2, r, &out, NULL, MPI_STATUSES_IGNORE));
	ARG(MPI_Testsome(2, NULL, &out, indices, MPI_STATUSES_IGNORE));
	OK(MPI_Wait(&r[0], &status));
	OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
	is(__LINE__, in == left ? MPI_SUCCESS : MPI_ERR_OTHER, MPI_SUCCESS);
	ARG(MPI_Get_count(&status, MPI_INT, NULL));
	ARG(MPI_Get_count_c(&status, MPI_INT, NULL));
	OK(MPI_Get_count_c(&status, MPI_INT, &c));
	ARG(MPI_Type_size(MPI_INT, NULL));
}

int main(int argc, char **argv) {
	int one = 1, two[2], n;
	char text[MPI_MAX_OBJECT_NAME];
	MPI_Aint a;
	MPI_Count c;
	MPI_Group g, h;
	MPI_Comm cart, got;
	MPI_Datatype type;
	MPI_Win win;
	MPI_Errhandler e;
	MPI_File f;
	int dims[1] = {1}, range[1][3] = {{0, 0, 1}};
	ARG(MPI_Get_version(NULL, &n)); /* also before MPI is there */
	ARG(MPI_Initialized(NULL));
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	messages();
	ARG(MPI_Comm_size(MPI_COMM_WORLD, NULL));
	ARG(MPI_Comm_rank(MPI_COMM_WORLD, NULL));
	ARG(MPI_Comm_group(MPI_COMM_WORLD, NULL));
	ARG(MPI_Comm_get_name(MPI_COMM_WORLD, NULL, &n));
	ARG(MPI_Comm_get_name(MPI_COMM_WORLD, text, NULL));
	ARG(MPI_Comm_get_info(MPI_COMM_WORLD, NULL));
	ARG(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &n));
	ARG(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &a, NULL));
	ARG(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
	ARG(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
	ARG(MPI_Ibarrier(MPI_COMM_WORLD, NULL));
	ARG(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, dims, 0, NULL));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &g));
	ARG(MPI_Group_size(g, NULL));
	ARG(MPI_Group_rank(g, NULL));
	ARG(MPI_Group_union(g, g, NULL));
	ARG(MPI_Group_compare(g, g, NULL));
	ARG(MPI_Group_translate_ranks(g, 1, NULL, g, two));
	ARG(MPI_Group_translate_ranks(g, 1, dims, g, NULL));
	OK(MPI_Group_translate_ranks(g, 0, NULL, g, NULL));
	ARG(MPI_Group_incl(g, 1, NULL, &h));
	ARG(MPI_Group_excl(g, 1, NULL, &h));
	ARG(MPI_Group_range_incl(g, 1, NULL, &h));
	ARG(MPI_Group_range_excl(g, 1, range, NULL));
	OK(MPI_Group_incl(g, 0, NULL, &h));
	OK(MPI_Group_free(&g));
	ARG(MPI_Group_free(NULL));
	ARG(MPI_Type_contiguous(1, MPI_INT, NULL));
	ARG(MPI_Type_size_x(MPI_INT, NULL));
	ARG(MPI_Type_get_extent(MPI_INT, NULL, &a));
	ARG(MPI_Type_get_extent_c(MPI_INT, &c, NULL));
	ARG(MPI_Type_commit(NULL));
	OK(MPI_Type_contiguous(3, MPI_INT, &type));
	ARG(MPI_Type_get_envelope(type, &n, &n, &n, NULL));
	ARG(MPI_Type_get_contents(type, 1, 0, 1, NULL, NULL, &type));
	ARG(MPI_Type_get_contents(type, 1, 0, 1, two, NULL, NULL));
	OK(MPI_Type_free(&type));
	ARG(MPI_Get_processor_name(NULL, &n));
	ARG(MPI_Error_string(MPI_ERR_ARG, NULL, &n));
	ARG(MPI_Info_create(NULL));
	ARG(MPI_Buffer_detach(NULL, &n));
	OK(MPI_Cart_create(MPI_COMM_SELF, 1, dims, dims, 0, &cart));
	MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
	ARG(MPI_Cart_get(cart, 1, dims, NULL, two));
	ARG(MPI_Cart_coords(cart, 0, 1, NULL));
	ARG(MPI_Cart_rank(cart, NULL, &n));
	ARG(MPI_Cart_sub(cart, NULL, &got));
	ARG(MPI_Cart_shift(cart, 0, 1, NULL, &n));
	/* a grid that is too large leaves no communicator */
	dims[0] = 2;
	got = MPI_COMM_WORLD;
	is(__LINE__, MPI_Cart_create(cart, 1, dims, two, 0, &got), MPI_ERR_DIMS);
	is(__LINE__, got == MPI_COMM_NULL ? MPI_SUCCESS : MPI_ERR_OTHER, MPI_SUCCESS);
	/* windows and files have handlers of their own */
	OK(MPI_Win_create(&one, sizeof one, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	ARG(MPI_Win_get_group(win, NULL));
	ARG(MPI_Win_get_name(win, NULL, &n));
	OK(MPI_Win_free(&win));

	MPI_Comm_create_errhandler(forgives, &e);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, e);
	MPI_Errhandler_free(&e);
	OK(MPI_Comm_size(MPI_COMM_WORLD, NULL));
	OK(MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD));
	MPI_File_create_errhandler(forgives_file, &e);
	MPI_File_set_errhandler(MPI_FILE_NULL, e);
	MPI_Errhandler_free(&e);
	OK(MPI_File_open(MPI_COMM_SELF, "/nowhere/file", MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	if (calls != 3) printf("%d calls of handlers\n", calls), failed = 1;
	if (!failed) printf("good\n");
	MPI_Finalize();
	ARG(MPI_Get_address(&one, NULL));
	ARG(MPI_Status_set_tag(NULL, 1));
	return failed;
}
