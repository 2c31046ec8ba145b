// partitioned sends partitioned messages round a ring: threads make parts ready, and others ask
// which have arrived. With the argument "loop" it does so often enough for replicas to be killed
// meanwhile, and says at the end what it has computed. With "dies" a sender dies in the middle.
#include <mpi.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { PARTS = 8, COUNT = 500, TAKES = 5, TAG = 7 };

static int rank, size, left, right;
static int replicated; // parts travel together

static int class(int code)
{
	MPI_Error_class(code, &code);
	return code;
}

// part is what a thread makes ready, or waits for.
struct part {
	MPI_Request request;
	int first, last; // partitions
	int *data;       // all of the message
	int round;
};

static void *readies(void *argument)
{
	struct part *p = argument;
	for (int part = p->first; part <= p->last; part++)
		for (int i = 0; i < COUNT; i++)
			p->data[part * COUNT + i] = rank * 1000000 + p->round * 10000 + part * COUNT + i;
	OK(MPI_Pready_range(p->first, p->last, p->request));
	return NULL;
}

static void *waits(void *argument)
{
	struct part *p = argument;
	int count = PARTS * COUNT / TAKES;
	for (int part = p->first; part <= p->last; part++) {
		for (int flag = 0; !flag; sched_yield())
			OK(MPI_Parrived(p->request, part, &flag));
		for (int i = part * count; i < (part + 1) * count; i++)
			CHECK(p->data[i] == left * 1000000 + p->round * 10000 + i);
	}
	return NULL;
}

// rounds sends n messages to the right and receives as many from the left.
static long rounds(int n)
{
	static int out[PARTS * COUNT], in[PARTS * COUNT];
	long sum = 0;
	MPI_Request r[2];
	MPI_Status s[2];
	OK(MPI_Psend_init(out, PARTS, COUNT, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init_c(in, TAKES, PARTS * COUNT / TAKES, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	for (int round = 0; round < n; round++) {
		pthread_t threads[6];
		struct part p[6] = {
			{ r[0], 0, 2, out, round }, { r[0], 3, 3, out, round }, { r[0], 4, PARTS - 1, out, round },
			{ r[1], 0, 0, in, round }, { r[1], 1, 2, in, round }, { r[1], 2, TAKES - 1, in, round },
		};
		OK(MPI_Startall(2, r));
		for (int i = 0; i < 6; i++)
			pthread_create(&threads[i], NULL, i < 3 ? readies : waits, &p[i]);
		OK(MPI_Waitall(2, r, s)); // while the threads work
		for (int i = 0; i < 6; i++)
			pthread_join(threads[i], NULL);
		int got;
		OK(MPI_Get_count(&s[1], MPI_INT, &got));
		CHECK(got == PARTS * COUNT && s[1].MPI_SOURCE == left && s[1].MPI_TAG == TAG);
		for (int i = 0; i < PARTS * COUNT; i++)
			sum = sum * 31 + in[i];
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	return sum;
}

// columns sends the columns of a matrix, one a partition, and puts them into rows.
static void columns(void)
{
	enum { N = 6 };
	double a[N][N], b[N][N];
	MPI_Datatype column;
	MPI_Request r[2];
	int flag;
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			a[i][k] = rank + 10 * i + k, b[i][k] = -1;
	OK(MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column));
	OK(MPI_Type_create_resized(column, 0, sizeof(double), &column));
	OK(MPI_Type_commit(&column));
	OK(MPI_Psend_init(a, N, 1, column, right, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init(b, N, N, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	OK(MPI_Startall(2, r));
	int order[N] = { 3, 1, 5, 0, 4, 2 };
	OK(MPI_Pready_list(N - 1, order, r[0]));
	if (!replicated)
		for (flag = 0; !flag;)
			OK(MPI_Parrived(r[1], 5, &flag));
	OK(MPI_Pready(order[N - 1], r[0]));
	OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			CHECK(b[i][k] == left + 10 * k + i);
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	OK(MPI_Type_free(&column));
}

// spare receives into more room than the message needs, twice, also into a type with gaps.
static void spare(void)
{
	enum { N = 6 };
	int out[N], in[2 * N], wide[4 * N], flag, n;
	MPI_Datatype second;
	MPI_Request r[3];
	MPI_Status s[3];
	OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &second));
	OK(MPI_Type_commit(&second));
	OK(MPI_Psend_init(out, 3, N / 3, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Precv_init(in, 4, N / 2, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	for (int round = 0; round < 4; round++) {
		if (round == 2) { // another pair
			OK(MPI_Request_free(&r[0]));
			OK(MPI_Request_free(&r[1]));
			OK(MPI_Psend_init(out, 3, N / 3, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
			OK(MPI_Precv_init(wide, 4, N / 2, second, left, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
		}
		for (int i = 0; i < N; i++)
			out[i] = 100 * rank + 10 * round + i;
		memset(in, -1, sizeof in);
		memset(wide, -1, sizeof wide);
		OK(MPI_Startall(2, r));
		OK(MPI_Pready_range(0, 2, r[0]));
		for (int part = 3; part >= 0; part--) // the last two get nothing
			for (flag = 0; !flag;)
				OK(MPI_Parrived(r[1], part, &flag));
		for (int i = 0; i < N; i++)
			CHECK((round < 2 ? in[i] : wide[2 * i]) == 100 * left + 10 * round + i);
		OK(MPI_Waitall(2, r, s));
		for (int i = N; i < 2 * N; i++)
			CHECK(in[i] == -1 && wide[2 * i] == -1 && wide[2 * i - 1] == -1);
		OK(MPI_Get_count(&s[1], MPI_INT, &n));
		CHECK(n == N && s[1].MPI_SOURCE == left);
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
	OK(MPI_Type_free(&second));
}

// orders makes messages of one tag in one order, and starts them in the other one. The first is
// never started.
static void orders(void)
{
	int out[3] = { 1, 2, 3 }, in[3] = { 0, 0, 0 };
	MPI_Request s[3], r[3];
	for (int i = 0; i < 3; i++) {
		OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &s[i]));
		OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
	}
	OK(MPI_Request_free(&s[0]));
	OK(MPI_Request_free(&r[0]));
	for (int i = 2; i > 0; i--) {
		OK(MPI_Start(&s[i]));
		OK(MPI_Pready(0, s[i]));
	}
	for (int i = 1; i < 3; i++) {
		OK(MPI_Start(&r[i]));
		OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
	}
	OK(MPI_Waitall(2, s + 1, MPI_STATUSES_IGNORE));
	CHECK(in[0] == 0 && in[1] == 2 && in[2] == 3);
	for (int i = 1; i < 3; i++) {
		OK(MPI_Request_free(&s[i]));
		OK(MPI_Request_free(&r[i]));
	}
}

// nobody sends to MPI_PROC_NULL and receives from it.
static void nobody(void)
{
	int x = 5, flag = 0, n;
	MPI_Request s, r;
	MPI_Status status;
	OK(MPI_Psend_init(&x, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &s));
	OK(MPI_Precv_init(&x, 1, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
	OK(MPI_Start(&s));
	OK(MPI_Start(&r));
	OK(MPI_Pready(0, s));
	OK(MPI_Parrived(r, 0, &flag));
	CHECK(flag);
	OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, &status));
	OK(MPI_Get_count(&status, MPI_INT, &n));
	CHECK(status.MPI_SOURCE == MPI_PROC_NULL && n == 0 && x == 5);
	OK(MPI_Request_free(&s));
	OK(MPI_Request_free(&r));
}

static void errors(void)
{
	int x[4], flag = 0, bad[] = { 0, 9 };
	MPI_Request s, r, other;
	MPI_Comm c = MPI_COMM_SELF;
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	CHECK(class(MPI_Psend_init(x, -1, 1, MPI_INT, 0, 0, c, MPI_INFO_NULL, &s)) == MPI_ERR_ARG);
	CHECK(class(MPI_Psend_init(x, 2, -1, MPI_INT, 0, 0, c, MPI_INFO_NULL, &s)) == MPI_ERR_COUNT);
	CHECK(class(MPI_Psend_init(x, 2, 1, MPI_INT, 1, 0, c, MPI_INFO_NULL, &s)) == MPI_ERR_RANK);
	CHECK(class(MPI_Psend_init(x, 2, 1, MPI_INT, 0, -1, c, MPI_INFO_NULL, &s)) == MPI_ERR_TAG);
	CHECK(class(MPI_Psend_init_c(x, 4, (MPI_Count)1 << 61, MPI_INT, 0, 0, c, MPI_INFO_NULL, &s)) == MPI_ERR_COUNT);
	CHECK(class(MPI_Precv_init(x, 2, 1, MPI_INT, MPI_ANY_SOURCE, 0, c, MPI_INFO_NULL, &r)) == MPI_ERR_RANK);
	CHECK(class(MPI_Precv_init(x, 2, 1, MPI_INT, 0, MPI_ANY_TAG, c, MPI_INFO_NULL, &r)) == MPI_ERR_TAG);
	CHECK(class(MPI_Precv_init(x, 2, 1, MPI_DATATYPE_NULL, 0, 0, c, MPI_INFO_NULL, &r)) == MPI_ERR_TYPE);
	OK(MPI_Psend_init(x, 2, 1, MPI_INT, 0, 0, c, MPI_INFO_NULL, &s));
	OK(MPI_Precv_init(x + 2, 2, 1, MPI_INT, 0, 0, c, MPI_INFO_NULL, &r));
	OK(MPI_Recv_init(x, 1, MPI_INT, 0, 0, c, &other));
	CHECK(class(MPI_Pready(0, s)) == MPI_ERR_REQUEST); // not started
	OK(MPI_Parrived(r, 0, &flag));                     // inactive: so it has arrived
	CHECK(flag);
	flag = 0;
	OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
	CHECK(flag);
	OK(MPI_Start(&r));
	OK(MPI_Start(&s));
	CHECK(class(MPI_Pready(2, s)) == MPI_ERR_ARG);
	CHECK(class(MPI_Pready(-1, s)) == MPI_ERR_ARG);
	CHECK(class(MPI_Pready_range(1, 0, s)) == MPI_ERR_ARG);
	CHECK(class(MPI_Pready(0, r)) == MPI_ERR_REQUEST);
	CHECK(class(MPI_Pready(0, other)) == MPI_ERR_REQUEST);
	CHECK(class(MPI_Parrived(s, 0, &flag)) == MPI_ERR_REQUEST);
	CHECK(class(MPI_Parrived(r, 2, &flag)) == MPI_ERR_ARG);
	OK(MPI_Parrived(r, 1, &flag));
	CHECK(!flag);
	CHECK(class(MPI_Pready_list(2, bad, s)) == MPI_ERR_ARG); // the first is ready now
	CHECK(class(MPI_Pready(0, s)) == MPI_ERR_ARG);
	OK(MPI_Pready(1, s));
	OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(class(MPI_Pready(1, s)) == MPI_ERR_REQUEST); // over
	OK(MPI_Request_free(&s));
	OK(MPI_Request_free(&r));
	OK(MPI_Request_free(&other));
}

// dies has rank 0 die when half of a message has left. The receiver's thread and its wait both
// fail.
static void dies(void)
{
	int x[2] = { 0, 0 }, flag, code;
	MPI_Request r;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 0) {
		OK(MPI_Psend_init(x, 2, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
		OK(MPI_Start(&r));
		OK(MPI_Pready(1, r));
		OK(MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		raise(SIGKILL);
	} else if (rank == 1) {
		OK(MPI_Precv_init(x, 2, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
		OK(MPI_Start(&r));
		for (flag = 0; !flag;)
			OK(MPI_Parrived(r, 1, &flag));
		OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
		do
			code = MPI_Parrived(r, 0, &flag);
		while (code == MPI_SUCCESS && !flag);
		CHECK(code != MPI_SUCCESS);
		CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS);
		puts("goes on");
	}
}

int main(int argc, char **argv)
{
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size, right = (rank + 1) % size;
	replicated = getenv("REPLICATED") != NULL;
	if (argc > 1 && strcmp(argv[1], "dies") == 0) {
		dies();
	} else if (argc > 1) {
		printf("rank %d: %ld\n", rank, rounds(300));
	} else {
		rounds(20);
		columns();
		orders();
	spare();
		nobody();
		errors();
	}
	return END;
}
