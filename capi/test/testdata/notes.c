// notes FILE ROUNDS: what is special about receives that C notes (two ranks): all ways in which a
// request is used beside the plain wait, with handles that are copied, stale, mixed with others or
// too many.
#include <mpi.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int rank;

static void receive(long *to, int tag, MPI_Comm comm, MPI_Request *r)
{
	*to = -1;
	OK(MPI_Irecv(to, 1, MPI_LONG, 1, tag, comm, r));
}

static void send(long value, int tag, MPI_Comm comm) { OK(MPI_Send(&value, 1, MPI_LONG, 0, tag, comm)); }

// meet: rank 0 has sent what it does to rank 1.
static void meet(void)
{
	int x = 0;
	OK(MPI_Send(&x, 1, MPI_INT, !rank, 99, MPI_COMM_WORLD));
	OK(MPI_Recv(&x, 1, MPI_INT, !rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

// The communicator of a note is freed before its message comes.
static void freed_communicator(void)
{
	MPI_Comm comm;
	MPI_Request r;
	long got;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	if (rank == 0) {
		receive(&got, 1, comm, &r);
		OK(MPI_Comm_free(&comm));
		meet();
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(got == 11 && r == MPI_REQUEST_NULL);
	} else {
		meet();
		send(11, 1, comm);
		OK(MPI_Comm_free(&comm));
	}
}

// More notes than there is room for, and then as many again.
static void many(void)
{
	enum { COUNT = 700 };
	static MPI_Request requests[COUNT];
	static MPI_Status statuses[COUNT];
	static long got[COUNT];
	for (int round = 0; round < 3; round++) {
		if (rank == 1) {
			meet();
			for (int i = 0; i < COUNT; i++)
				send(i, i % 7, MPI_COMM_WORLD);
			continue;
		}
		for (int i = 0; i < COUNT; i++)
			receive(&got[i], i % 7, MPI_COMM_WORLD, &requests[i]);
		meet();
		OK(MPI_Waitall(COUNT, requests, statuses));
		for (int i = 0; i < COUNT; i++)
			CHECK(got[i] == i && requests[i] == MPI_REQUEST_NULL && statuses[i].MPI_TAG == i % 7 && statuses[i].MPI_SOURCE == 1);
	}
}

// A few notes that last keep their places while others come and go.
static void lasting(void)
{
	enum { LONG = 40, ROUNDS = 900 };
	MPI_Request lasts[LONG], r;
	long last[LONG], got;
	if (rank == 1) {
		for (int i = 0; i < ROUNDS; i++)
			send(i, 2, MPI_COMM_WORLD);
		for (int i = LONG; i-- > 0;)
			send(i, 100 + i, MPI_COMM_WORLD);
		return;
	}
	for (int i = 0; i < LONG; i++)
		receive(&last[i], 100 + i, MPI_COMM_WORLD, &lasts[i]);
	for (int i = 0; i < ROUNDS; i++) {
		receive(&got, 2, MPI_COMM_WORLD, &r);
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		CHECK(got == i);
	}
	OK(MPI_Waitall(LONG, lasts, MPI_STATUSES_IGNORE));
	for (int i = 0; i < LONG; i++)
		CHECK(last[i] == i);
}

// A message that is too long is an error of its receive, and of no other.
static void truncated(void)
{
	long out[4] = {1, 2, 3, 4}, got[3];
	MPI_Request r[3];
	MPI_Status s[3];
	if (rank == 1) {
		send(5, 1, MPI_COMM_WORLD);
		OK(MPI_Send(out, 4, MPI_LONG, 0, 1, MPI_COMM_WORLD));
		send(6, 1, MPI_COMM_WORLD);
		return;
	}
	for (int i = 0; i < 3; i++)
		receive(&got[i], 1, MPI_COMM_WORLD, &r[i]);
	CHECK(MPI_Waitall(3, r, s) == MPI_ERR_IN_STATUS);
	CHECK(s[0].MPI_ERROR == MPI_SUCCESS && s[1].MPI_ERROR == MPI_ERR_TRUNCATE && s[2].MPI_ERROR == MPI_SUCCESS);
	CHECK(got[0] == 5 && got[1] == 1 && got[2] == 6);
}

// Handles are copied, go through Fortran's integers, and are noticed when they are stale.
static void handles(void)
{
	long got;
	MPI_Request r, copy, stale;
	int flag;
	if (rank == 1) {
		meet();
		send(3, 1, MPI_COMM_WORLD);
		send(4, 1, MPI_COMM_WORLD);
		return;
	}
	receive(&got, 1, MPI_COMM_WORLD, &r);
	copy = r;
	OK(MPI_Test(&copy, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag && copy == r);
	OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag);
	copy = MPI_Request_f2c(MPI_Request_c2f(r));
	CHECK(copy == r);
	stale = r;
	meet();
	OK(MPI_Wait(&copy, MPI_STATUS_IGNORE));
	CHECK(got == 3 && copy == MPI_REQUEST_NULL);
	copy = stale;
	CHECK(MPI_Wait(&copy, MPI_STATUS_IGNORE) == MPI_ERR_REQUEST);
	receive(&got, 1, MPI_COMM_WORLD, &r);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	copy = stale;
	CHECK(got == 4 && MPI_Test(&copy, &flag, MPI_STATUS_IGNORE) == MPI_ERR_REQUEST);
	CHECK(MPI_Waitall(1, &copy, MPI_STATUSES_IGNORE) == MPI_ERR_REQUEST);
	CHECK(MPI_Request_free(&copy) == MPI_ERR_REQUEST && MPI_Cancel(&copy) == MPI_ERR_REQUEST);
}

// All kinds of requests in one array, in any order.
static void mixed(void)
{
	enum { COUNT = 7 };
	long got[2] = {0}, out = 9, large[4096];
	int count, flag;
	for (int first = 0; first < COUNT; first++) {
		MPI_Request r[COUNT];
		MPI_Status s[COUNT];
		memset(s, 0x33, sizeof s);
		if (rank == 1)
			meet();
		for (int i = 0; i < COUNT; i++) {
			int at = (i + first) % COUNT;
			int peer = !rank;
			switch (i) {
			case 0:
				r[at] = MPI_REQUEST_NULL;
				break;
			case 1:
				OK(MPI_Irecv(&got[0], 1, MPI_LONG, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[at]));
				break;
			case 2:
				OK(MPI_Isend(&out, 1, MPI_LONG, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[at]));
				break;
			case 3:
				OK(MPI_Irecv(&got[1], 1, MPI_LONG, peer, 5, MPI_COMM_WORLD, &r[at]));
				break;
			case 4:
				OK(MPI_Irecv(large, 4096, MPI_LONG, peer, 7, MPI_COMM_WORLD, &r[at]));
				break;
			case 5:
				OK(MPI_Isend(&out, 1, MPI_LONG, peer, 5, MPI_COMM_WORLD, &r[at]));
				break;
			case 6:
				OK(MPI_Isend(&out, 1, MPI_LONG, peer, 7, MPI_COMM_WORLD, &r[at]));
			}
		}
		if (rank == 0)
			meet();
		if (first % 2)
			OK(MPI_Waitall(COUNT, r, s));
		else
			for (flag = 0; !flag;)
				OK(MPI_Testall(COUNT, r, &flag, s));
		for (int i = 0; i < COUNT; i++)
			CHECK(r[i] == MPI_REQUEST_NULL);
		CHECK(s[(1 + first) % COUNT].MPI_SOURCE == MPI_PROC_NULL && s[(1 + first) % COUNT].MPI_TAG == MPI_ANY_TAG);
		CHECK(s[first].MPI_SOURCE == MPI_ANY_SOURCE && s[first].MPI_ERROR == MPI_SUCCESS);
		MPI_Get_count(&s[(3 + first) % COUNT], MPI_LONG, &count);
		CHECK(count == 1 && s[(3 + first) % COUNT].MPI_TAG == 5 && got[1] == 9 && large[0] == 9);
		meet();
	}
}

// A message that has come can't be cancelled; its note can be freed.
static void cancelled(void)
{
	long got, other;
	MPI_Request r, q;
	MPI_Status s;
	int flag;
	if (rank == 1) {
		send(1, 1, MPI_COMM_WORLD);
		send(2, 2, MPI_COMM_WORLD);
		send(3, 3, MPI_COMM_WORLD);
		return;
	}
	receive(&got, 1, MPI_COMM_WORLD, &r);
	receive(&other, 2, MPI_COMM_WORLD, &q);
	OK(MPI_Wait(&q, MPI_STATUS_IGNORE)); // the first message comes before it
	OK(MPI_Cancel(&r));
	OK(MPI_Wait(&r, &s));
	OK(MPI_Test_cancelled(&s, &flag));
	CHECK(!flag && got == 1 && s.MPI_TAG == 1);
	receive(&got, 3, MPI_COMM_WORLD, &r);
	OK(MPI_Request_free(&r));
	CHECK(r == MPI_REQUEST_NULL);
	for (volatile long *late = &got; *late != 3;)
		OK(MPI_Iprobe(1, 1000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

// A program that computes after MPI_Irecv: its note is posted by the progress thread, so that a
// synchronous send ends.
static void computes(const char *file)
{
	long got;
	MPI_Request r;
	if (rank == 1) {
		long value = 8;
		OK(MPI_Ssend(&value, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD));
		int f = open(file, O_CREAT | O_WRONLY, 0600);
		CHECK(f >= 0);
		close(f);
		return;
	}
	receive(&got, 1, MPI_COMM_WORLD, &r);
	int tries = 0;
	while (access(file, F_OK) != 0 && tries++ < 30000)
		usleep(1000);
	CHECK(tries < 30000);
	OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	CHECK(got == 8);
}

// A window of receives, ended by all functions that end some of several. Each one that ends is
// followed by another. The sender sleeps now and then, so that waits come to Go. A null request is
// among them.
enum { WIDE = 60, COUNT = 1800, TAGS = 5 };
static long got[WIDE], expected[WIDE], started[TAGS];
static MPI_Request window[WIDE + 1];

// start_next starts a receive that gets the next message of its tag.
static void start_next(int i)
{
	int tag = i % TAGS;
	if (started[tag] == COUNT / TAGS)
		return;
	expected[i] = started[tag]++ * TAGS + tag;
	receive(&got[i], tag, MPI_COMM_WORLD, &window[i]);
}

static void several(void)
{
	static MPI_Status s[WIDE + 1];
	int at[WIDE + 1], n, flag;
	if (rank == 1) {
		for (int i = 0; i < COUNT; i++) {
			if (i % 397 == 0)
				usleep(3000);
			send(i, i % TAGS, MPI_COMM_WORLD);
		}
		return;
	}
	memset(started, 0, sizeof started);
	window[WIDE] = MPI_REQUEST_NULL;
	for (int i = 0; i < WIDE; i++)
		start_next(i);
	for (int done = 0, turn = 0; done < COUNT; turn++) {
		switch (turn % 4) {
		case 0:
			OK(MPI_Waitany(WIDE + 1, window, at, s));
			n = 1;
			break;
		case 1:
			OK(MPI_Waitsome(WIDE + 1, window, &n, at, s));
			CHECK(n > 0);
			break;
		case 2:
			OK(MPI_Testany(WIDE + 1, window, at, &flag, s));
			CHECK(flag || at[0] == MPI_UNDEFINED);
			n = flag;
			break;
		default:
			OK(MPI_Testsome(WIDE + 1, window, &n, at, s));
		}
		for (int k = 0; k < n; k++) {
			int i = at[k];
			CHECK(i >= 0 && i < WIDE && window[i] == MPI_REQUEST_NULL && got[i] == expected[i]);
			CHECK(s[k].MPI_SOURCE == 1 && s[k].MPI_TAG == i % TAGS);
		}
		for (int k = 0; k < n; k++)
			start_next(at[k]);
		done += n;
	}
	OK(MPI_Waitany(WIDE + 1, window, at, s));
	CHECK(at[0] == MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	void (*all[])(void) = {freed_communicator, many, lasting, truncated, handles, mixed, cancelled, several};
	for (int round = 0; round < atoi(argv[2]); round++)
		for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
			all[i]();
			if (round % 2)
				meet();
		}
	computes(argv[1]);
	return END;
}
