// cancel checks MPI_Cancel of sends between two ranks: a send is cancelled if no receive has matched
// its message, and then nobody gets any of it; or it is what it was. "spawn" does so with a rank of
// another job; "dies" kills the receiver in the middle, in a job that goes on; "never" is for jobs in
// which no send is cancelled. The second argument is a file to say that a wait is over.
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { TAG = 1, SAYS = 2 };
enum { PLAIN, SYNCHRONOUS, BUFFERED, PERSISTENT, PERSISTENT_SYNCHRONOUS, PERSISTENT_BUFFERED, MODES };

static int me, other;
static MPI_Comm comm;
static const char *file;
static uint64_t seed;

// Nothing, small, beyond the lane, eager at most, by rendezvous, read in its sender's memory.
static const int sizes[] = {0, 8, 4096, 5000, 65536, 65537, 1 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 1 << 20 };

static unsigned next(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void fill(char *b, int size, int salt)
{
	for (int i = 0; i < size; i++)
		b[i] = (char)(i * 7 + salt);
}

static void has(const char *b, int size, int salt)
{
	for (int i = 0; i < size; i++)
		if (b[i] != (char)(i * 7 + salt)) {
			CHECK(b[i] == (char)(i * 7 + salt));
			return;
		}
}

static void start(int mode, char *b, int size, int to, MPI_Request *r)
{
	switch (mode) {
	case PLAIN:
		OK(MPI_Isend(b, size, MPI_BYTE, to, TAG, comm, r));
		break;
	case SYNCHRONOUS:
		OK(MPI_Issend(b, size, MPI_BYTE, to, TAG, comm, r));
		break;
	case BUFFERED:
		OK(MPI_Ibsend(b, size, MPI_BYTE, to, TAG, comm, r));
		break;
	case PERSISTENT:
		OK(MPI_Send_init(b, size, MPI_BYTE, to, TAG, comm, r));
		OK(MPI_Start(r));
		break;
	case PERSISTENT_SYNCHRONOUS:
		OK(MPI_Ssend_init(b, size, MPI_BYTE, to, TAG, comm, r));
		OK(MPI_Start(r));
		break;
	case PERSISTENT_BUFFERED:
		OK(MPI_Bsend_init(b, size, MPI_BYTE, to, TAG, comm, r));
		OK(MPI_Start(r));
		break;
	}
}

// ended waits for a request in one of the ways that there are, and says whether it was cancelled.
static int ended(MPI_Request *r)
{
	MPI_Status s[2];
	MPI_Request two[2] = {MPI_REQUEST_NULL, *r};
	int flag = 0, index = 7, cancelled = 5, count, indices[2];
	memset(s, 7, sizeof s);
	switch (next(7)) {
	case 0:
		OK(MPI_Wait(&two[1], &s[1]));
		break;
	case 1:
		while (!flag)
			OK(MPI_Test(&two[1], &flag, &s[1]));
		break;
	case 2:
		OK(MPI_Waitall(2, two, s));
		break;
	case 3:
		OK(MPI_Waitany(2, two, &index, &s[1]));
		CHECK(index == 1);
		break;
	case 4:
		while (!flag)
			OK(MPI_Testall(2, two, &flag, s));
		break;
	case 5:
		OK(MPI_Waitsome(2, two, &count, indices, s));
		CHECK(count == 1 && indices[0] == 1);
		s[1] = s[0];
		break;
	case 6:
		while (!flag)
			OK(MPI_Request_get_status(two[1], &flag, &s[1]));
		OK(MPI_Test_cancelled(&s[1], &cancelled));
		OK(MPI_Wait(&two[1], &s[1]));
		OK(MPI_Test_cancelled(&s[1], &flag));
		CHECK(flag == cancelled);
		break;
	}
	*r = two[1];
	OK(MPI_Test_cancelled(&s[1], &cancelled));
	if (*r != MPI_REQUEST_NULL) // a persistent one
		OK(MPI_Request_free(r));
	return cancelled;
}

static void say(int what) { OK(MPI_Send(&what, 1, MPI_INT, other, SAYS, comm)); }

static int hear(void)
{
	int what = -1;
	OK(MPI_Recv(&what, 1, MPI_INT, other, SAYS, comm, MPI_STATUS_IGNORE));
	return what;
}

static void none(void)
{
	int flag = 1;
	for (int k = 0; k < 3; k++) {
		OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &flag, MPI_STATUS_IGNORE));
		CHECK(!flag);
	}
}

// late: the receiver isn't in the library when the send is cancelled, nor before its wait ends.
static void late(char *b)
{
	for (int mode = 0; mode < MODES; mode++)
		for (int i = 0; i < SIZES; i++) {
			struct stat there;
			MPI_Request r;
			OK(MPI_Barrier(comm));
			if (me == 0) {
				fill(b, sizes[i], i);
				start(mode, b, sizes[i], 1, &r);
				OK(MPI_Cancel(&r));
				OK(MPI_Cancel(&r));
				CHECK(ended(&r) == 1);
				FILE *f = fopen(file, "w");
				CHECK(f && fclose(f) == 0);
				say(17);
				hear();
				OK(MPI_Send(b, 1, MPI_BYTE, 1, TAG, comm)); // another one is received
			} else {
				struct timespec pause = {0, 1000000};
				for (int k = 0; stat(file, &there) != 0; k++) {
					CHECK(k < 30000);
					if (k == 30000)
						exit(1);
					nanosleep(&pause, NULL);
				}
				unlink(file);
				CHECK(hear() == 17);
				none();
				say(18);
				MPI_Status s;
				int count;
				OK(MPI_Recv(b, MOST, MPI_BYTE, 0, TAG, comm, &s));
				OK(MPI_Get_count(&s, MPI_BYTE, &count));
				CHECK(count == 1);
			}
		}
}

// early: the receiver has matched the message, by a receive or a probe, before the send is cancelled.
static void early(char *b)
{
	for (int mode = 0; mode < MODES; mode++)
		for (int i = 0; i < SIZES; i++)
			for (int probes = 0; probes < 2; probes++) {
				MPI_Request r;
				MPI_Message m;
				OK(MPI_Barrier(comm));
				fill(b, sizes[i], me == 0 ? i : 99);
				if (me == 0) {
					start(mode, b, sizes[i], 1, &r);
					CHECK(hear() == i);
					OK(MPI_Cancel(&r));
					CHECK(ended(&r) == 0);
					fill(b, sizes[i], 77); // it is the program's again
					say(i);
				} else if (probes) {
					OK(MPI_Mprobe(0, TAG, comm, &m, MPI_STATUS_IGNORE));
					say(i);
					CHECK(hear() == i);
					OK(MPI_Mrecv(b, sizes[i], MPI_BYTE, &m, MPI_STATUS_IGNORE));
					has(b, sizes[i], i);
				} else {
					OK(MPI_Irecv(b, sizes[i], MPI_BYTE, 0, TAG, comm, &r));
					say(i);
					OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
					CHECK(hear() == i);
					has(b, sizes[i], i);
				}
			}
}

// middle: of several messages that wait, one is cancelled. The others come in their order.
static void middle(char *b)
{
	enum { K = 5 };
	for (int i = 0; i < SIZES; i++)
		for (int mode = 0; mode < 3; mode++)
			for (int which = 0; which < K; which++) {
				MPI_Request r[K];
				OK(MPI_Barrier(comm));
				if (me == 0) {
					int size = sizes[i] < 70000 ? sizes[i] : 70000;
					for (int k = 0; k < K; k++) {
						char *at = b + k * 70000;
						if (size > 0)
							at[0] = (char)k;
						start(mode, at, size, 1, &r[k]);
					}
					OK(MPI_Cancel(&r[which]));
					CHECK(ended(&r[which]) == 1);
					say(size);
					MPI_Status s[K];
					OK(MPI_Waitall(K, r, s));
					for (int k = 0; k < K; k++) {
						int flag;
						OK(MPI_Test_cancelled(&s[k], &flag));
						CHECK(!flag);
					}
				} else {
					int size = hear();
					for (int k = 0; k < K; k++)
						if (k != which) {
							OK(MPI_Recv(b, size, MPI_BYTE, k % 2 ? 0 : MPI_ANY_SOURCE, TAG, comm, MPI_STATUS_IGNORE));
							CHECK(size == 0 || b[0] == k);
						}
					none();
				}
			}
	OK(MPI_Barrier(comm)); // the messages of the next part come after the last look
}

// races: the receiver posts its receive at any time. Afterwards it hears what has become of the send.
static void races(char *b, int rounds)
{
	int cancelled = 0;
	for (int k = 0; k < rounds; k++) {
		MPI_Request r;
		int i = k % SIZES, mode = k / SIZES % MODES;
		if (me == 0) {
			fill(b, sizes[i], k);
			start(mode, b, sizes[i], 1, &r);
			for (unsigned spins = next(4) ? next(30000) : 0; spins > 0; spins--)
				__asm__ volatile("");
			OK(MPI_Cancel(&r));
			int is = ended(&r);
			cancelled += is;
			say(is);
			CHECK(hear() == k);
		} else {
			for (unsigned spins = next(4) ? next(30000) : 0; spins > 0; spins--)
				__asm__ volatile("");
			MPI_Message m = MPI_MESSAGE_NULL;
			MPI_Status s;
			int flag = 0, is;
			fill(b, sizes[i], 101);
			if (next(3) == 0) {
				OK(MPI_Improbe(0, TAG, comm, &flag, &m, &s));
				if (flag)
					OK(MPI_Imrecv(b, sizes[i], MPI_BYTE, &m, &r));
			}
			if (!flag)
				OK(MPI_Irecv(b, sizes[i], MPI_BYTE, 0, TAG, comm, &r));
			is = hear();
			if (is) {
				CHECK(!flag);
				OK(MPI_Test(&r, &flag, &s));
				CHECK(!flag);
				OK(MPI_Cancel(&r));
				OK(MPI_Wait(&r, &s));
				OK(MPI_Test_cancelled(&s, &flag));
				CHECK(flag);
				has(b, sizes[i], 101);
			} else {
				OK(MPI_Wait(&r, &s));
				OK(MPI_Test_cancelled(&s, &flag));
				CHECK(!flag);
				has(b, sizes[i], k);
			}
			say(k);
		}
	}
	if (me == 0)
		printf("%d of %d cancelled\n", cancelled, rounds);
}

// many: more sends are under way than the library remembers. The last are cancelled, in one go. The
// first isn't, and comes.
static void many(void)
{
	enum { K = 1500, LASTS = 100 };
	static MPI_Request r[K];
	static int v[K];
	static MPI_Status s[K];
	OK(MPI_Barrier(comm));
	if (me == 0) {
		for (int k = 0; k < K; k++) {
			v[k] = k;
			OK(MPI_Isend(&v[k], 1, MPI_INT, 1, TAG, comm, &r[k]));
		}
		MPI_Request copy = r[K - 1];
		OK(MPI_Cancel(&r[0]));
		for (int k = K - LASTS; k < K - 1; k++)
			OK(MPI_Cancel(&r[k]));
		OK(MPI_Cancel(&copy)); // handles may be copied
		OK(MPI_Waitall(K, r, s));
		for (int k = 0; k < K; k++) {
			int flag;
			OK(MPI_Test_cancelled(&s[k], &flag));
			CHECK(flag == (k >= K - LASTS));
		}
		say(0);
		OK(MPI_Isend(&v[1], 1, MPI_INT, 1, TAG, comm, &r[0]));
		OK(MPI_Cancel(&r[0]));
		OK(MPI_Request_free(&r[0]));
		OK(MPI_Issend(&v[2], 1, MPI_INT, 1, TAG, comm, &r[0]));
		OK(MPI_Cancel(&r[0]));
		OK(MPI_Request_free(&r[0]));
		hear();
		say(0);
	} else {
		int x = -1;
		hear();
		for (int k = 0; k < K - LASTS; k++) {
			OK(MPI_Recv(&x, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE));
			CHECK(x == k);
		}
		say(0);
		hear();
		none();
	}
}

// alone: messages of a rank to itself.
static void alone(char *b)
{
	for (int mode = 0; mode < MODES; mode++)
		for (int i = 0; i < SIZES; i++) {
			MPI_Request r;
			MPI_Message m;
			start(mode, b, sizes[i], me, &r);
			OK(MPI_Cancel(&r));
			CHECK(ended(&r) == 1);
			none();
			fill(b, sizes[i], i);
			start(mode, b, sizes[i], me, &r);
			OK(MPI_Mprobe(me, TAG, comm, &m, MPI_STATUS_IGNORE));
			OK(MPI_Cancel(&r));
			CHECK(ended(&r) == 0);
			fill(b, sizes[i], 9);
			OK(MPI_Mrecv(b, sizes[i], MPI_BYTE, &m, MPI_STATUS_IGNORE));
			has(b, sizes[i], i);
		}
}

// never: a job with replicas cancels no send.
static void never(char *b)
{
	for (int mode = 0; mode < MODES; mode++)
		for (int i = 0; i < SIZES; i++) {
			MPI_Request r;
			if (me == 0) {
				fill(b, sizes[i], i);
				start(mode, b, sizes[i], 1, &r);
				OK(MPI_Cancel(&r));
				CHECK(ended(&r) == 0);
			} else {
				OK(MPI_Recv(b, sizes[i], MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE));
				has(b, sizes[i], i);
			}
			OK(MPI_Barrier(comm));
		}
}

// dies: rank 1 is killed while sends to it are being cancelled.
static void dies(char *b, int mode, int size)
{
	MPI_Request r;
	OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Barrier(comm));
	if (me == 1) {
		raise(SIGSTOP); // until it is killed
		return;
	}
	int pid = -1;
	FILE *f = fopen(file, "r");
	CHECK(f && fscanf(f, "%d", &pid) == 1 && fclose(f) == 0);
	char stat[99];
	snprintf(stat, sizeof stat, "/proc/%d/stat", pid);
	for (int stopped = 0; !stopped;) {
		char state = 0;
		f = fopen(stat, "r");
		CHECK(f && fscanf(f, "%*d %*s %c", &state) == 1 && fclose(f) == 0);
		stopped = state == 'T';
	}
	start(mode, b, size, 1, &r);
	OK(MPI_Cancel(&r));
	int flag = 1;
	OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
	CHECK(!flag); // nobody has answered
	kill(pid, SIGKILL);
	MPI_Status s;
	int code = MPI_Wait(&r, &s), class = code;
	if (code == MPI_SUCCESS) {
		OK(MPI_Test_cancelled(&s, &flag));
		CHECK(!flag);
	} else {
		OK(MPI_Error_class(code, &class));
		CHECK(mode == SYNCHRONOUS || size > 65536);
	}
	printf("survives\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *kind = argv[1];
	int level;
	file = argv[2];
	OK(MPI_Init_thread(&argc, &argv, strcmp(kind, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level));
	if (strcmp(kind, "spawn") == 0) {
		MPI_Comm between;
		OK(MPI_Comm_get_parent(&between));
		int child = between != MPI_COMM_NULL;
		if (!child)
			OK(MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE));
		OK(MPI_Intercomm_merge(between, child, &comm));
		OK(MPI_Comm_disconnect(&between));
	} else {
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	}
	OK(MPI_Comm_rank(comm, &me));
	other = 1 - me;
	seed = (uint64_t)me + 5;
	char *b = malloc(MOST);
	int room = 8 << 20;
	void *buffer = malloc((size_t)room);
	OK(MPI_Buffer_attach(buffer, room));
	if (strcmp(kind, "dies") == 0) {
		if (me == 1) {
			FILE *f = fopen(file, "w");
			CHECK(f && fprintf(f, "%d", getpid()) > 0 && fclose(f) == 0);
		}
		dies(b, atoi(argv[3]), atoi(argv[4]));
		_exit(wrong > 0);
	}
	if (strcmp(kind, "never") == 0) {
		never(b);
	} else {
		late(b);
		early(b);
		middle(b);
		races(b, atoi(argv[3]));
		many();
		alone(b);
	}
	OK(MPI_Buffer_detach(&buffer, &room));
	OK(MPI_Comm_free(&comm));
	return END;
}
