// rmamistakes.h: what is wrong gets the class of its error.
#include <string.h>

#define FAILS(class, call)                                  \
	do {                                                \
		int code_ = (call), class_;                 \
		MPI_Error_class(code_, &class_);            \
		CHECK(class_ == (class));                   \
	} while (0)

static void mistakes(void)
{
	double x = 0, y[2] = {0};
	int n = 1;
	MPI_Request r;
	MPI_Datatype mixed;
	MPI_Group world;
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &n));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
	OK(MPI_Win_lock_all(0, win));
	FAILS(MPI_ERR_RANK, MPI_Put(&x, 1, MPI_DOUBLE, size, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_RANK, MPI_Get(&x, 1, MPI_DOUBLE, -7, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_COUNT, MPI_Put(&x, 1, MPI_DOUBLE, 0, disp(0, 0), -1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_COUNT, MPI_Put(&x, -1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_TYPE, MPI_Put(&x, 1, MPI_DATATYPE_NULL, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_TYPE, MPI_Put(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DATATYPE_NULL, win));
	FAILS(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_ARG, MPI_Put(y, 2, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_TRUNCATE, MPI_Get(y, 1, MPI_DOUBLE, 0, disp(0, 0), 2, MPI_DOUBLE, win));
	FAILS(MPI_ERR_OP, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_BAND, win));
	FAILS(MPI_ERR_OP, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_NO_OP, win));
	FAILS(MPI_ERR_OP, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_OP_NULL, win));
	FAILS(MPI_ERR_TYPE, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_INT64_T, MPI_SUM, win));
	FAILS(MPI_ERR_ARG, MPI_Rput(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win, NULL));
	FAILS(MPI_ERR_ARG, MPI_Rget_c(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win, NULL));
	FAILS(MPI_ERR_ARG, MPI_Raccumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_SUM, win, NULL));
	FAILS(MPI_ERR_ARG, MPI_Rget_accumulate(&x, 1, MPI_DOUBLE, y, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_SUM, win, NULL));
	FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&x, &x, &x, MPI_DOUBLE, 0, disp(0, 0), win));
	int lengths[] = {1, 1};
	MPI_Aint at[] = {0, 8};
	MPI_Datatype kinds[] = {MPI_INT, MPI_DOUBLE};
	OK(MPI_Type_create_struct(2, lengths, at, kinds, &mixed));
	FAILS(MPI_ERR_TYPE, MPI_Put(y, 1, mixed, 0, disp(0, 0), 1, mixed, win)); // not committed
	OK(MPI_Type_commit(&mixed));
	FAILS(MPI_ERR_TYPE, MPI_Accumulate(y, 1, mixed, 0, disp(0, 0), 1, mixed, MPI_REPLACE, win));
	FAILS(MPI_ERR_TYPE, MPI_Fetch_and_op(y, y, mixed, 0, disp(0, 0), MPI_REPLACE, win));
	OK(MPI_Type_free(&mixed));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_WIN, MPI_Put(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_WIN_NULL));
	FAILS(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
	if (flavor != MPI_WIN_FLAVOR_DYNAMIC) {
		FAILS(MPI_ERR_DISP, MPI_Put(&x, 1, MPI_DOUBLE, 0, -1, 1, MPI_DOUBLE, win));
		FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&x, 1, MPI_DOUBLE, size - 1, elements, 1, MPI_DOUBLE, win));
		FAILS(MPI_ERR_RMA_RANGE, MPI_Get(y, 2, MPI_DOUBLE, 0, elements - 1, 2, MPI_DOUBLE, win));
		FAILS(MPI_ERR_RMA_RANGE, MPI_Rget(y, 1, MPI_DOUBLE, 0, (MPI_Aint)1 << 60, 1, MPI_DOUBLE, win, &r));
		CHECK(r == MPI_REQUEST_NULL);
		FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, &x, 8));
	} else {
		FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 1, 8));
		FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, &x));
		if (size > 1) { // only the target knows what it has attached
			int other = (rank + 1) % size;
			OK(MPI_Put(&x, 1, MPI_DOUBLE, other, disp(other, elements), 1, MPI_DOUBLE, win));
			FAILS(MPI_ERR_RMA_RANGE, MPI_Win_flush(other, win));
			OK(MPI_Get(&x, 1, MPI_DOUBLE, other, disp(other, -1), 1, MPI_DOUBLE, win));
			FAILS(MPI_ERR_RMA_RANGE, MPI_Win_flush(other, win));
		}
		FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&x, 1, MPI_DOUBLE, rank, disp(rank, elements), 1, MPI_DOUBLE, win));
	}
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(world, 0, win));
	OK(MPI_Win_unlock_all(win));
	FAILS(MPI_ERR_ASSERT, MPI_Win_start(world, MPI_MODE_NOPUT, win));
	OK(MPI_Win_post(world, 0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_post(world, 0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&x, 1, MPI_DOUBLE, rank, disp(rank, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Accumulate(&x, 1, MPI_DOUBLE, rank, disp(rank, 0), 1, MPI_DOUBLE, MPI_SUM, win));
	OK(MPI_Win_start(world, 0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
	OK(MPI_Win_complete(win));
	OK(MPI_Win_wait(win));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&x, 1, MPI_DOUBLE, rank, disp(rank, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(world, 0, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	// A fence has ended an epoch that was used, so another one may begin.
	MPI_Datatype apart;
	OK(MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &apart));
	OK(MPI_Type_commit(&apart));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(y, 2, MPI_DOUBLE, rank, disp(rank, 0), 1, apart, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Win_lock_all(0, win));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Type_free(&apart));
	OK(MPI_Group_free(&world));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void hints(void)
{
	MPI_Info info;
	MPI_Win w;
	char value[64];
	int flag;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "no_locks", "true"));
	OK(MPI_Win_create(NULL, 0, 1, info, MPI_COMM_WORLD, &w));
	OK(MPI_Info_free(&info));
	OK(MPI_Win_get_info(w, &info));
	OK(MPI_Info_get(info, "no_locks", 63, value, &flag));
	CHECK(flag && strcmp(value, "true") == 0);
	OK(MPI_Info_get(info, "accumulate_ordering", 63, value, &flag));
	CHECK(flag && strcmp(value, "rar,raw,war,waw") == 0);
	OK(MPI_Info_get(info, "accumulate_ops", 63, value, &flag));
	CHECK(flag && strcmp(value, "same_op_no_op") == 0);
	OK(MPI_Info_free(&info));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, w));
	OK(MPI_Win_free(&w));
}

// Rank 1 makes a mistake that ends the job.
static void fatal(const char *what)
{
	double x = 0;
	make(MPI_WIN_FLAVOR_CREATE);
	OK(MPI_Win_set_name(win, "halo"));
	if (strcmp(what, "epoch") != 0)
		OK(MPI_Win_fence(0, win));
	if (rank == 1) {
		if (strcmp(what, "range") == 0)
			MPI_Put(&x, 1, MPI_DOUBLE, 0, elements, 1, MPI_DOUBLE, win);
		else if (strcmp(what, "epoch") == 0)
			MPI_Get(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
		else
			MPI_Put(&x, 1, MPI_DOUBLE, 9, 0, 1, MPI_DOUBLE, win);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(0);
}
