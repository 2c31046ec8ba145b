// point checks sends, receives, probes and requests of all kinds, among any number of
// ranks. "threads" does so from several threads at once, "mistake" ends in an error.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int n, me;

enum { messages = 40, modes = 8, manners = 6 };

// Lengths in ints: empty, eager up to the limit, and by rendezvous.
static const int lengths[] = {0, 1, 100, 16384, 16385, 70000};

static int length(int from, int to, int i) { return lengths[(from + 2 * to + i) % 6]; }

static int *message(int from, int to, int i)
{
	int m = length(from, to, i), *v = malloc(sizeof(int) * (m + 1));
	for (int k = 0; k < m; k++)
		v[k] = (from * 100 + to) * 1000 + i + k;
	return v;
}

static void start(int how, int *v, int m, int to, int tag, MPI_Comm comm, MPI_Request *r)
{
	*r = MPI_REQUEST_NULL;
	switch (how) {
	case 0:
		OK(MPI_Isend(v, m, MPI_INT, to, tag, comm, r));
		break;
	case 1:
		OK(MPI_Issend(v, m, MPI_INT, to, tag, comm, r));
		break;
	case 2:
		OK(MPI_Ibsend(v, m, MPI_INT, to, tag, comm, r));
		break;
	case 3:
		OK(MPI_Irsend_c(v, m, MPI_INT, to, tag, comm, r));
		break;
	case 4:
		OK(MPI_Bsend(v, m, MPI_INT, to, tag, comm));
		break;
	case 5:
		OK(MPI_Send_init(v, m, MPI_INT, to, tag, comm, r));
		OK(MPI_Start(r));
		break;
	case 6:
		OK(MPI_Ssend_init(v, m, MPI_INT, to, tag, comm, r));
		OK(MPI_Startall(1, r));
		break;
	case 7:
		OK(MPI_Bsend_init(v, m, MPI_INT, to, tag, comm, r));
		OK(MPI_Start(r));
		break;
	}
}

// receive gets the next message of a peer in one of several manners.
static void receive(int how, int from, int i, MPI_Comm comm)
{
	int m = length(from, me, i), count = -1, flag = 0, index;
	int *v = malloc(sizeof(int) * (m + 1)), *want = message(from, me, i);
	MPI_Status s;
	MPI_Message taken;
	MPI_Request r, rs[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	memset(v, 0xff, sizeof(int) * (m + 1));
	switch (how) {
	case 0:
		OK(MPI_Recv(v, m, MPI_INT, from, i, comm, &s));
		break;
	case 1:
		OK(MPI_Irecv(v, m, MPI_INT, from, MPI_ANY_TAG, comm, &r));
		OK(MPI_Wait(&r, &s));
		CHECK(r == MPI_REQUEST_NULL);
		break;
	case 2:
		OK(MPI_Mprobe(from, i, comm, &taken, &s));
		OK(MPI_Get_count(&s, MPI_INT, &count));
		CHECK(count == m && s.MPI_SOURCE == from && s.MPI_TAG == i);
		OK(MPI_Mrecv(v, m, MPI_INT, &taken, &s));
		CHECK(taken == MPI_MESSAGE_NULL);
		break;
	case 3:
		while (!flag)
			OK(MPI_Improbe(from, MPI_ANY_TAG, comm, &flag, &taken, MPI_STATUS_IGNORE));
		OK(MPI_Imrecv(v, m, MPI_INT, &taken, &rs[1]));
		OK(MPI_Waitany(2, rs, &index, &s));
		CHECK(index == 1 && rs[1] == MPI_REQUEST_NULL);
		break;
	case 4:
		OK(MPI_Probe(from, MPI_ANY_TAG, comm, &s));
		OK(MPI_Get_elements(&s, MPI_INT, &count));
		CHECK(count == m);
		OK(MPI_Recv_init(v, m, MPI_INT, from, i, comm, &r));
		OK(MPI_Start(&r));
		for (flag = 0; !flag;)
			OK(MPI_Test(&r, &flag, &s));
		CHECK(r != MPI_REQUEST_NULL);
		OK(MPI_Request_free(&r));
		break;
	case 5:
		OK(MPI_Irecv(v, m, MPI_INT, from, i, comm, &rs[0]));
		for (flag = 0; !flag;)
			OK(MPI_Request_get_status(rs[0], &flag, &s));
		OK(MPI_Waitall(2, rs, MPI_STATUSES_IGNORE));
		break;
	}
	OK(MPI_Get_count(&s, MPI_INT, &count));
	CHECK(count == m && s.MPI_SOURCE == from && s.MPI_TAG == i);
	CHECK(memcmp(v, want, sizeof(int) * m) == 0 && v[m] == -1);
	free(v), free(want);
}

// traffic sends to all ranks, itself as well, in all modes, and receives in all manners.
static void traffic(MPI_Comm comm)
{
	int **v = malloc(sizeof(int *) * n * messages);
	MPI_Request *rs = malloc(sizeof(MPI_Request) * n * messages);
	for (int to = 0; to < n; to++)
		for (int i = 0; i < messages; i++) {
			int k = to * messages + i;
			v[k] = message(me, to, i);
			start((i + to) % modes, v[k], length(me, to, i), to, i, comm, &rs[k]);
		}
	for (int i = 0; i < messages; i++)
		for (int from = 0; from < n; from++)
			receive((i + from) % manners, from, i, comm);
	OK(MPI_Waitall(n * messages, rs, MPI_STATUSES_IGNORE));
	for (int k = 0; k < n * messages; k++) {
		if (rs[k] != MPI_REQUEST_NULL)
			OK(MPI_Request_free(&rs[k]));
		free(v[k]);
	}
	free(v), free(rs);
}

// anonymous receives from any source: rank 0 gets a token from each rank.
static void anonymous(MPI_Comm comm)
{
	MPI_Status s;
	int token = me;
	if (me > 0) {
		OK(MPI_Send(&token, 1, MPI_INT, 0, 3, comm));
		return;
	}
	int sum = 0;
	for (int i = 1; i < n; i++) {
		OK(MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &s));
		CHECK(token == s.MPI_SOURCE);
		sum += token;
	}
	CHECK(sum == n * (n - 1) / 2);
}

// ring passes numbers around a ring with MPI_Sendrecv and its relatives.
static void ring(MPI_Comm comm)
{
	int right = (me + 1) % n, left = (me + n - 1) % n, out[2] = {me, -me}, in[2];
	MPI_Status s;
	MPI_Request r;
	OK(MPI_Sendrecv(out, 2, MPI_INT, right, 1, in, 2, MPI_INT, left, 1, comm, &s));
	CHECK(in[0] == left && in[1] == -left && s.MPI_SOURCE == left);
	OK(MPI_Sendrecv_replace(out, 2, MPI_INT, right, 1, left, 1, comm, &s));
	CHECK(out[0] == left);
	OK(MPI_Isendrecv(out, 2, MPI_INT, left, 1, in, 2, MPI_INT, right, 1, comm, &r));
	OK(MPI_Wait(&r, &s));
	CHECK(in[0] == me && s.MPI_SOURCE == right);
	OK(MPI_Isendrecv_replace(out, 2, MPI_INT, left, 1, right, 1, comm, &r));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(out[0] == me && out[1] == -me);
	OK(MPI_Recv(in, 2, MPI_INT, MPI_PROC_NULL, 1, comm, &s));
	CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
}

// errors checks that mistakes return codes in the standard's classes, and do no harm.
static void errors(MPI_Comm comm)
{
	int class, x[4] = {1, 2, 3, 4}, y[4], flag;
	MPI_Status ss[2];
	MPI_Request rs[2];
#define FAILS(call, with)                       \
	do {                                    \
		MPI_Error_class((call), &class); \
		CHECK(class == with);           \
	} while (0)
	OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
	FAILS(MPI_Send(x, 1, MPI_INT, n, 0, comm), MPI_ERR_RANK);
	FAILS(MPI_Send(x, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
	FAILS(MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
	FAILS(MPI_Send(x, 1, MPI_INT, 0, -9, comm), MPI_ERR_TAG);
	FAILS(MPI_Recv(NULL, 1, MPI_INT, 0, 0, comm, ss), MPI_ERR_BUFFER);
	FAILS(MPI_Recv(x, 1, MPI_INT, -9, 0, comm, ss), MPI_ERR_RANK);
	OK(MPI_Irecv(y, 4, MPI_INT, me, 1, comm, &rs[0]));
	OK(MPI_Irecv(y, 2, MPI_INT, me, 2, comm, &rs[1]));
	OK(MPI_Send(x, 4, MPI_INT, me, 1, comm));
	OK(MPI_Send(x, 4, MPI_INT, me, 2, comm));
	FAILS(MPI_Waitall(2, rs, ss), MPI_ERR_IN_STATUS);
	CHECK(ss[0].MPI_ERROR == MPI_SUCCESS);
	FAILS(ss[1].MPI_ERROR, MPI_ERR_TRUNCATE);
	CHECK(y[0] == 1 && y[1] == 2);
	OK(MPI_Irecv(y, 4, MPI_INT, me, 1, comm, &rs[0]));
	OK(MPI_Cancel(&rs[0]));
	OK(MPI_Wait(&rs[0], ss));
	OK(MPI_Test_cancelled(ss, &flag));
	CHECK(flag);
	OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
}

// strided sends columns of a matrix.
static void strided(MPI_Comm comm)
{
	double a[5][4], column[5];
	MPI_Datatype col;
	MPI_Request r;
	for (int i = 0; i < 20; i++)
		a[i / 4][i % 4] = i;
	OK(MPI_Type_vector(5, 1, 4, MPI_DOUBLE, &col));
	OK(MPI_Type_commit(&col));
	OK(MPI_Irecv(column, 5, MPI_DOUBLE, me, 6, comm, &r));
	OK(MPI_Ssend(&a[0][2], 1, col, me, 6, comm));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	for (int i = 0; i < 5; i++)
		CHECK(column[i] == 4 * i + 2);
	OK(MPI_Isend(column, 5, MPI_DOUBLE, me, 6, comm, &r));
	OK(MPI_Recv(&a[0][0], 1, col, me, 6, comm, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	for (int i = 0; i < 5; i++)
		CHECK(a[i][0] == 4 * i + 2 && a[i][1] == 4 * i + 1);
	OK(MPI_Type_free(&col));
}

static void *thread(void *comm)
{
	traffic(*(MPI_Comm *)comm);
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	CHECK(provided == MPI_THREAD_MULTIPLE);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (argc > 1 && strcmp(argv[1], "mistake") == 0)
		MPI_Send(&n, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
	static char buffer[(MPI_BSEND_OVERHEAD + 70000 * sizeof(int)) * messages];
	void *address;
	int size;
	if (n * 4 > 10)
		OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
	else
		OK(MPI_Buffer_attach(buffer, sizeof buffer));
	traffic(MPI_COMM_WORLD);
	anonymous(MPI_COMM_WORLD);
	ring(MPI_COMM_WORLD);
	errors(MPI_COMM_WORLD);
	strided(MPI_COMM_WORLD);
	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		pthread_t ids[3];
		MPI_Comm comms[3];
		for (int i = 0; i < 3; i++)
			OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
		for (int i = 0; i < 3; i++)
			pthread_create(&ids[i], NULL, thread, &comms[i]);
		for (int i = 0; i < 3; i++) {
			pthread_join(ids[i], NULL);
			OK(MPI_Comm_free(&comms[i]));
		}
	}
	OK(MPI_Buffer_detach(&address, &size));
	CHECK(address == (n * 4 > 10 ? MPI_BUFFER_AUTOMATIC : (void *)buffer));
	return END;
}
