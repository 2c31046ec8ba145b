/* Buffered sends to another job, and in this one: requests for a flush end when the messages have left. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                                                                     \
	do {                                                                                                             \
		if (!(x)) {                                                                                                  \
			printf("line %d: %s is false\n", __LINE__, #x);                                                          \
			fflush(stdout);                                                                                          \
			MPI_Abort(MPI_COMM_WORLD, 3);                                                                            \
		}                                                                                                            \
	} while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

enum { N = 1 << 20 }; /* too many bytes to leave before they are received */

static char data[N], space[8 * N];
static int rank;

/* attach, iflush and detach of a buffer: of the process, a communicator or a session */
typedef struct {
	int kind;
	MPI_Comm comm;
	MPI_Session session;
} owner;

static void attach(owner o) {
	if (o.kind == 0) OK(MPI_Buffer_attach(space, sizeof space));
	if (o.kind == 1) OK(MPI_Comm_attach_buffer(o.comm, space, sizeof space));
	if (o.kind == 2) OK(MPI_Session_attach_buffer(o.session, space, sizeof space));
}

static MPI_Request iflush(owner o) {
	MPI_Request r = MPI_REQUEST_NULL;
	if (o.kind == 0) OK(MPI_Buffer_iflush(&r));
	if (o.kind == 1) OK(MPI_Comm_iflush_buffer(o.comm, &r));
	if (o.kind == 2) OK(MPI_Session_iflush_buffer(o.session, &r));
	CHECK(r != MPI_REQUEST_NULL);
	return r;
}

static void flush(owner o) {
	if (o.kind == 0) OK(MPI_Buffer_flush());
	if (o.kind == 1) OK(MPI_Comm_flush_buffer(o.comm));
	if (o.kind == 2) OK(MPI_Session_flush_buffer(o.session));
}

static void detach(owner o) {
	void *at;
	int size;
	if (o.kind == 0) OK(MPI_Buffer_detach(&at, &size));
	if (o.kind == 1) OK(MPI_Comm_detach_buffer(o.comm, &at, &size));
	if (o.kind == 2) OK(MPI_Session_detach_buffer(o.session, &at, &size));
	CHECK(at == space && size == (int)sizeof space);
}

/* pending checks that a request doesn't end before the other rank is told to receive. */
static void pending(MPI_Request *r) {
	int flag;
	for (int i = 0; i < 200; i++) {
		OK(MPI_Test(r, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag);
	}
	int at, flags;
	OK(MPI_Testany(1, r, &at, &flags, MPI_STATUS_IGNORE));
	CHECK(!flags);
}

static void go(MPI_Comm c, int peer) { OK(MPI_Send(NULL, 0, MPI_INT, peer, 1, c)); }

static void await(MPI_Comm c, int peer) { OK(MPI_Recv(NULL, 0, MPI_INT, peer, 1, c, MPI_STATUS_IGNORE)); }

/* flushes: the rank that sends has n messages across, and, if own is given, as many in own, where its
   peer is the other one. Each go lets the receiver receive the next message. */
static void flushes(owner o, int sends, MPI_Comm across, MPI_Comm own, int peer) {
	MPI_Comm c[2] = {across, own};
	int of[2] = {0, peer}, n = own == MPI_COMM_NULL ? 1 : 2;
	for (int first = 0; first < n; first++) /* which one is received first */
		for (int late = 0; late < 2; late++) {
			if (sends) {
				MPI_Request r[2];
				attach(o);
				for (int i = 0; i < n; i++) OK(MPI_Bsend(data, N, MPI_CHAR, of[i], 7, c[i]));
				r[0] = iflush(o);
				pending(&r[0]);
				for (int i = 0; i < n; i++) {
					if (i > 0) await(across, 0); /* the first one is there */
					if (i > 0) pending(&r[0]);
					go(across, 0);
				}
				if (late) {
					OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
				} else { /* beside a request of another engine, and of none */
					int one = 1;
					OK(MPI_Irecv(&one, 1, MPI_INT, 0, 3, across, &r[1]));
					go(across, 0);
					OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
					CHECK(one == 5);
				}
				CHECK(r[0] == MPI_REQUEST_NULL);
				r[0] = iflush(o); /* nothing to wait for */
				OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
				for (int i = 0; i < n; i++) OK(MPI_Bsend(data, N, MPI_CHAR, of[i], 8, c[i]));
				r[0] = iflush(o);
				OK(MPI_Request_free(&r[0])); /* goes on */
				r[0] = iflush(o);
				r[1] = iflush(o); /* two of the same */
				go(across, 0);
				flush(o);
				OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
				detach(o);
			} else {
				for (int i = 0; i < n; i++) {
					int from = (first + i) % n;
					await(across, 0);
					OK(MPI_Recv(data, N, MPI_CHAR, of[from], 7, c[from], MPI_STATUS_IGNORE));
					if (i < n - 1) go(across, 0);
				}
				int five = 5;
				if (!late) {
					await(across, 0);
					OK(MPI_Send(&five, 1, MPI_INT, 0, 3, across));
				}
				await(across, 0);
				for (int i = 0; i < n; i++) OK(MPI_Recv(data, N, MPI_CHAR, of[i], 8, c[i], MPI_STATUS_IGNORE));
			}
		}
}

/* meet connects ranks 0 and 1 by a port. */
static MPI_Comm meet(MPI_Comm world, MPI_Comm alone) {
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm inter;
	if (rank == 0) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, world));
		OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, alone, &inter));
		OK(MPI_Close_port(port));
	} else {
		OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE));
		OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, alone, &inter));
	}
	return inter;
}

static MPI_Comm from(MPI_Session session, const char *set) {
	MPI_Group g;
	MPI_Comm c;
	OK(MPI_Group_from_session_pset(session, set, &g));
	OK(MPI_Comm_create_from_group(g, set, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
	OK(MPI_Group_free(&g));
	return c;
}

int main(int argc, char **argv) {
	owner o = {0};
	MPI_Comm inter;
	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	for (int i = 0; i < N; i++) data[i] = (char)i;
	inter = meet(MPI_COMM_WORLD, MPI_COMM_SELF);
	flushes(o, rank == 0, inter, MPI_COMM_NULL, 1 - rank);
	flushes(o, rank == 1, inter, MPI_COMM_WORLD, 1 - rank);
	o.kind = 1;
	o.comm = inter;
	flushes(o, rank == 1, inter, MPI_COMM_NULL, 1 - rank);
	OK(MPI_Comm_disconnect(&inter));

	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &o.session));
	MPI_Comm world = from(o.session, "mpi://world"), alone = from(o.session, "mpi://Self");
	inter = meet(world, alone);
	o.kind = 2;
	flushes(o, rank == 0, inter, world, 1 - rank);
	flushes(o, rank == 1, inter, MPI_COMM_NULL, 1 - rank);
	o.kind = 0; /* without a buffer of the session, that of the process serves */
	flushes(o, rank == 0, inter, world, 1 - rank);
	OK(MPI_Comm_disconnect(&inter));
	OK(MPI_Comm_free(&world));
	OK(MPI_Comm_free(&alone));
	OK(MPI_Session_finalize(&o.session));

	if (rank == 0) printf("good\n");
	return MPI_Finalize();
}
