// comm makes communicators, groups, attributes and info objects as C programs do, on any number of
// ranks. Package binding tests what they mean. This program tests that C programs can reach them.
#include <mpi.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int rank, size, replicated;

static int copied, deleted;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	CHECK(comm == MPI_COMM_WORLD && *(int *)extra == 77);
	copied++;
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
	CHECK(*(int *)extra == 77);
	deleted += (int)(intptr_t)value;
	return MPI_SUCCESS;
}

static int last_words(MPI_Comm comm, int keyval, void *value, void *extra)
{
	int n, finalized;
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &n)); // functions of the library work here
	OK(MPI_Finalized(&finalized));
	CHECK(comm == MPI_COMM_SELF && n == rank && !finalized);
	printf("last words of %d\n", n);
	fflush(stdout);
	return MPI_SUCCESS;
}

static void attributes(void)
{
	static int extra = 77;
	int key, flag, *number;
	void *value;
	MPI_Comm dup;
	OK(MPI_Comm_create_keyval(copy, delete, &key, &extra));
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
	CHECK(!flag);
	// Any word is a valid value, also one that the library uses itself.
	for (intptr_t v = 1; v < 20; v += 6) {
		OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *)v));
		OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
		CHECK(flag && (intptr_t)value == v);
	}
	CHECK(deleted == 1 + 7 + 13);
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	OK(MPI_Comm_get_attr(dup, key, &value, &flag));
	CHECK(flag && (intptr_t)value == 20 && copied == 1);
	OK(MPI_Comm_free(&dup));
	CHECK(dup == MPI_COMM_NULL && deleted == 21 + 20);
	OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
	CHECK(deleted == 41 + 19);
	OK(MPI_Comm_free_keyval(&key));
	CHECK(key == MPI_KEYVAL_INVALID);

	OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &extra));
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	OK(MPI_Comm_get_attr(dup, key, &number, &flag));
	CHECK(flag && number == &extra);
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_words, &key, NULL));
	OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));

	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag));
	CHECK(flag && *number >= 32767);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &flag));
	CHECK(flag && *number == size);
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &number, &flag));
	CHECK(flag && *number == 1);
	int class;
	OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag));
	OK(MPI_Add_error_class(&class));
	CHECK(flag && *number == class);
}

static void groups(void)
{
	MPI_Group world, odd, rest;
	int n, r, ranges[1][3] = {{1, size - 1, 2}};
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_size(world, &n));
	OK(MPI_Group_rank(world, &r));
	CHECK(n == size && r == rank);
	OK(MPI_Group_range_incl(world, size > 1, ranges, &odd));
	OK(MPI_Group_difference(world, odd, &rest));
	OK(MPI_Group_size(odd, &n));
	CHECK(n == size / 2);
	MPI_Comm comm;
	OK(MPI_Comm_create(MPI_COMM_WORLD, rank % 2 ? odd : rest, &comm));
	CHECK(comm != MPI_COMM_NULL);
	int sum, all;
	OK(MPI_Comm_rank(comm, &r));
	CHECK(r == rank / 2);
	OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
	for (all = 0, n = rank % 2; n < size; n += 2)
		all += n;
	CHECK(sum == all);
	OK(MPI_Comm_free(&comm));
	if (rank % 2) {
		OK(MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &comm));
		OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
		CHECK(sum == all);
		OK(MPI_Comm_free(&comm));
	}
	OK(MPI_Group_free(&world));
	OK(MPI_Group_free(&odd));
	OK(MPI_Group_free(&rest));
	CHECK(world == MPI_GROUP_NULL);
}

static void splits(void)
{
	MPI_Comm half, node, copy;
	MPI_Request request;
	MPI_Status status;
	int r, n, result;
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2 ? 3 : MPI_UNDEFINED, -rank, &half));
	CHECK((half == MPI_COMM_NULL) == (rank >= size / 2));
	if (half != MPI_COMM_NULL) {
		OK(MPI_Comm_rank(half, &r));
		CHECK(r == size / 2 - 1 - rank);
		OK(MPI_Comm_disconnect(&half));
	}
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	OK(MPI_Comm_size(node, &n));
	CHECK(n == (replicated ? 1 : size)); // no replica has the memory of another one
	OK(MPI_Comm_compare(node, replicated ? MPI_COMM_SELF : MPI_COMM_WORLD, &result));
	CHECK(result == MPI_CONGRUENT);
	OK(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
	OK(MPI_Wait(&request, &status));
	CHECK(request == MPI_REQUEST_NULL);
	OK(MPI_Barrier(copy));
	// A message outlives the communicator over which it came.
	if (size > 1 && rank < 2) {
		int out = rank, in = -1;
		OK(MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, copy, &request));
		OK(MPI_Send(&out, 1, MPI_INT, 1 - rank, 0, copy));
		OK(MPI_Comm_free(&copy));
		OK(MPI_Wait(&request, &status));
		CHECK(in == 1 - rank && status.MPI_SOURCE == 1 - rank);
	} else {
		OK(MPI_Comm_free(&copy));
	}
	OK(MPI_Comm_free(&node));
	char name[MPI_MAX_OBJECT_NAME];
	OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &n));
	CHECK(strcmp(name, "MPI_COMM_SELF") == 0 && n == 13);
}

static void infos(void)
{
	MPI_Info info;
	char value[MPI_MAX_INFO_VAL];
	int n, flag;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "colour", "green"));
	n = sizeof value;
	OK(MPI_Info_get_string(info, "colour", &n, value, &flag));
	CHECK(flag && n == 6 && strcmp(value, "green") == 0);
	OK(MPI_Info_get_nkeys(info, &n));
	CHECK(n == 1);
	OK(MPI_Info_free(&info));
	n = sizeof value;
	OK(MPI_Info_get_string(MPI_INFO_ENV, "command", &n, value, &flag));
	CHECK(flag && strstr(value, "comm"));
}

static void errors(void)
{
	MPI_Errhandler before;
	char text[MPI_MAX_ERROR_STRING];
	int n, class, code;
	OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before));
	CHECK(before == MPI_ERRORS_ARE_FATAL);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK(MPI_Comm_size(MPI_COMM_NULL, &n) == MPI_ERR_COMM);
	CHECK(MPI_Send(&n, 1, MPI_INT, size, 0, MPI_COMM_WORLD) == MPI_ERR_RANK);
	CHECK(MPI_Send(&n, 1, MPI_INT, 0, -7, MPI_COMM_WORLD) == MPI_ERR_TAG);
	CHECK(MPI_Send(&n, -1, MPI_INT, 0, 0, MPI_COMM_WORLD) == MPI_ERR_COUNT);
	CHECK(MPI_Send(&n, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD) == MPI_ERR_TYPE);
	CHECK(MPI_Bcast(&n, 1, MPI_INT, -3, MPI_COMM_WORLD) == MPI_ERR_ROOT);
	CHECK(MPI_Allreduce(&n, &code, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) == MPI_ERR_OP);
	double x = 1, y;
	CHECK(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD) == MPI_ERR_OP);
	MPI_Datatype pair;
	OK(MPI_Type_contiguous(2, MPI_INT, &pair));
	int two[2];
	CHECK(MPI_Send(two, 1, pair, 0, 0, MPI_COMM_WORLD) == MPI_ERR_TYPE); // not committed
	OK(MPI_Type_free(&pair));
	CHECK(MPI_Type_free(&pair) == MPI_ERR_TYPE);
	MPI_Request request = (MPI_Request)(intptr_t)0x7654321;
	CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_ERR_REQUEST);
	OK(MPI_Error_string(MPI_ERR_RANK, text, &n));
	CHECK(strlen(text) == (size_t)n && strstr(text, "MPI_ERR_RANK"));
	OK(MPI_Add_error_class(&class));
	OK(MPI_Add_error_code(class, &code));
	OK(MPI_Add_error_string(code, "out of ink"));
	OK(MPI_Error_string(code, text, &n));
	CHECK(strcmp(text, "out of ink") == 0);
	OK(MPI_Error_class(code, &n));
	CHECK(n == class);
	CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD && MPI_Comm_c2f(MPI_COMM_NULL) == 0x100);
	MPI_Comm dup;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	CHECK(MPI_Comm_f2c(MPI_Comm_c2f(dup)) == dup);
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, before));
}

static int freed;

static int query(void *extra, MPI_Status *status)
{
	status->MPI_SOURCE = *(int *)extra;
	status->MPI_TAG = 2;
	MPI_Status_set_cancelled(status, 0);
	return MPI_Status_set_elements(status, MPI_INT, 3);
}

static int release(void *extra)
{
	freed += *(int *)extra;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete) { return complete ? MPI_SUCCESS : MPI_ERR_OTHER; }

static void generalised(void)
{
	MPI_Request request;
	MPI_Status status;
	int extra = 4, flag, n;
	OK(MPI_Grequest_start(query, release, cancel, &extra, &request));
	OK(MPI_Test(&request, &flag, &status));
	CHECK(!flag);
	OK(MPI_Grequest_complete(request));
	OK(MPI_Cancel(&request));
	OK(MPI_Wait(&request, &status));
	OK(MPI_Get_count(&status, MPI_INT, &n));
	CHECK(request == MPI_REQUEST_NULL && status.MPI_SOURCE == 4 && status.MPI_TAG == 2 && n == 3 && freed == 4);
}

static void environment(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int n, m;
	OK(MPI_Get_version(&n, &m));
	CHECK(n == 5 && m == 0);
	OK(MPI_Abi_get_version(&n, &m));
	CHECK(n == MPI_ABI_VERSION && m == MPI_ABI_SUBVERSION);
	OK(MPI_Get_library_version(text, &n));
	CHECK(strstr(text, "Banyan") && strlen(text) == (size_t)n);
	OK(MPI_Get_processor_name(text, &n));
	CHECK(n > 0 && strlen(text) == (size_t)n);
	double t = MPI_Wtime();
	CHECK(MPI_Wtime() >= t && MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
	char *p;
	OK(MPI_Alloc_mem(10000, MPI_INFO_NULL, &p));
	memset(p, 1, 10000);
	MPI_Aint a, b;
	OK(MPI_Get_address(p, &a));
	OK(MPI_Get_address(p + 100, &b));
	CHECK(MPI_Aint_diff(b, a) == 100 && MPI_Aint_add(a, 100) == b);
	OK(MPI_Free_mem(p));
	OK(MPI_Pcontrol(1, "x"));
	MPI_Status status;
	OK(MPI_Status_set_tag(&status, 9));
	OK(MPI_Status_get_tag(&status, &n));
	CHECK(n == 9 && status.MPI_TAG == 9);
	MPI_Count big;
	for (int is = 0; is < 2; is++) { // the statuses of C and of Go are the same
		OK(MPI_Status_set_cancelled(&status, is));
		OK(MPI_Test_cancelled(&status, &n));
		CHECK(n == is);
		OK(MPI_Status_set_elements_c(&status, MPI_DOUBLE, 3000000000));
		OK(MPI_Get_count_c(&status, MPI_DOUBLE, &big));
		CHECK(big == 3000000000 && status.MPI_TAG == 9);
		OK(MPI_Get_count(&status, MPI_DOUBLE, &n));
		CHECK(n == MPI_UNDEFINED);
	}
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	replicated = argc > 1 && strcmp(argv[1], "2") == 0; // the number of replicas
	attributes();
	groups();
	splits();
	infos();
	errors();
	generalised();
	environment();
	return END;
}
