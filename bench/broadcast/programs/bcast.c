/* bcast BYTES COUNT LIMIT_MS [DEAD…] times MPI_Bcast of rank 0, COUNT times. The latency of one is
   from rank 0's call to the last return at a live rank, by the clock that all processes of a
   machine share. Other hosts' clocks are compared with rank 0's first, by messages to and fro. The
   DEAD ranks are stopped meanwhile (SIGSTOP): to the others they look dead, and nobody is told. A
   broadcast that hasn't reached all live ranks after LIMIT_MS is missed: the stopped ranks go on
   then, until all have it.

   Rank 0 prints the median in nanoseconds of those that weren't missed (0 if all were), and how
   many were missed. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void nap(double ms)
{
	struct timespec t = { ms / 1e3, (long)(ms * 1e6) % 1000000000L };
	nanosleep(&t, NULL);
}

static int stopped(int pid)
{
	char path[64], line[512];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	if (!f)
		return 1;
	size_t n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = 0;
	char *p = strrchr(line, ')');
	return p && p[1] && (p[2] == 'T' || p[2] == 't');
}

/* An order is what rank 0 tells a stopper by a datagram, and, unless its number is 0, the stopper's
   answer once the signal has its effect. */
struct order {
	int number, signal;
};

/* stopper starts a child that stops this process and lets it go on, as rank 0 orders: a signal
   doesn't reach another host. It returns the port to which orders go. */
static int stopper(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY) };
	socklen_t n = sizeof here;
	int s = socket(AF_INET, SOCK_DGRAM, 0), parent = getpid(), child;
	if (s < 0 || bind(s, (struct sockaddr *)&here, n) || getsockname(s, (struct sockaddr *)&here, &n) || (child = fork()) < 0) {
		perror("bcast: stopper");
		exit(1);
	}
	if (child > 0) {
		close(s);
		return here.sin_port;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = open("/dev/null", O_RDWR), i = 0; i < 3; i++)
		dup2(fd, i);
	while (getppid() == parent) {
		struct order o;
		struct sockaddr_in from;
		n = sizeof from;
		if (recvfrom(s, &o, sizeof o, 0, (struct sockaddr *)&from, &n) != sizeof o)
			continue;
		kill(parent, o.signal);
		for (int tries = 0; o.signal == SIGSTOP && !stopped(parent) && tries < 5000; tries++)
			nap(1);
		if (o.number > 0)
			sendto(s, &o, sizeof o, 0, (struct sockaddr *)&from, n);
	}
	exit(0);
}

/* A place is where a rank's stopper takes orders. */
struct place {
	char host[MPI_MAX_PROCESSOR_NAME];
	int port;
};

static const int *the_dead;
static struct sockaddr_in *stoppers; /* at rank 0, of each rank */
static int ranks, orders;           /* orders is rank 0's socket */

static void order(int rank, int number, int signal)
{
	struct order o = { number, signal };
	sendto(orders, &o, sizeof o, 0, (struct sockaddr *)&stoppers[rank], sizeof stoppers[rank]);
}

/* find looks up the stoppers' addresses. */
static void find(const struct place *places, const char *host)
{
	orders = socket(AF_INET, SOCK_DGRAM, 0);
	stoppers = calloc(ranks, sizeof *stoppers);
	for (int r = 0; r < ranks; r++) {
		struct addrinfo want = { .ai_family = AF_INET }, *found = NULL;
		const char *name = strcmp(places[r].host, host) ? places[r].host : "127.0.0.1";
		int failed = getaddrinfo(name, NULL, &want, &found);
		if (failed) {
			fprintf(stderr, "bcast: host %s: %s\n", name, gai_strerror(failed));
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		stoppers[r] = *(struct sockaddr_in *)found->ai_addr;
		stoppers[r].sin_port = places[r].port;
		freeaddrinfo(found);
	}
}

/* all sends a signal to the dead ranks and waits until it has its effect. */
static void all(int signal)
{
	static int number;
	for (int r = 0; r < ranks; r++) {
		if (!the_dead[r])
			continue;
		struct order answer = { 0, 0 };
		number++;
		for (int tries = 0; answer.number != number; tries++) {
			struct pollfd p = { orders, POLLIN, 0 };
			if (tries == 100) {
				fprintf(stderr, "bcast: rank %d's stopper doesn't answer\n", r);
				MPI_Abort(MPI_COMM_WORLD, 1);
			}
			order(r, number, signal);
			while (answer.number != number && poll(&p, 1, 50) > 0)
				if (recv(orders, &answer, sizeof answer, 0) != sizeof answer)
					answer.number = 0;
		}
	}
}

/* late is the alarm of a broadcast that is missed. It lets the stopped ranks go on: even the
   root's call may wait for them. */
static volatile sig_atomic_t was_late;

static void late(int signal)
{
	(void)signal;
	was_late = 1;
	for (int r = 0; r < ranks; r++)
		if (the_dead[r])
			order(r, 0, SIGCONT);
}

/* ahead is by how much this rank's clock is ahead of rank 0's, in nanoseconds: 0 if it could be the
   same one. Each rank of another host asks rank 0 some times; the quickest answer counts. */
static double ahead(int rank, const struct place *places)
{
	double best = INFINITY, offset = 0, time;
	for (int r = 1; r < ranks; r++) {
		if (!strcmp(places[r].host, places[0].host))
			continue;
		for (int k = 0; k < 50; k++) {
			if (rank == 0) {
				MPI_Recv(&time, 1, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				time = now();
				MPI_Send(&time, 1, MPI_DOUBLE, r, 0, MPI_COMM_WORLD);
			} else if (rank == r) {
				double from = now(), to;
				MPI_Send(&from, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
				MPI_Recv(&time, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				to = now();
				if (to - from < best) {
					best = to - from;
					offset = from + best / 2 - time;
				}
			}
		}
	}
	return fabs(offset) > best / 2 ? offset : 0;
}

static void alarm_in(double ms)
{
	struct itimerval t = { { 0, 0 }, { ms / 1e3, (long)(ms * 1e3) % 1000000 } };
	setitimer(ITIMER_REAL, &t, NULL);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int rank, size, length;
	struct place mine = { .port = stopper() };
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Get_processor_name(mine.host, &length);
	if (argc < 4) {
		fprintf(stderr, "usage: bcast BYTES COUNT LIMIT_MS [DEAD...]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	int bytes = atoi(argv[1]), count = atoi(argv[2]), missed = 0;
	double limit = atof(argv[3]);
	int *dead = calloc(size, sizeof *dead);
	struct place *places = calloc(size, sizeof *places);
	for (int i = 4; i < argc; i++)
		dead[atoi(argv[i])] = 1;
	MPI_Allgather(&mine, sizeof mine, MPI_BYTE, places, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
	MPI_Comm live;
	MPI_Comm_split(MPI_COMM_WORLD, dead[rank], rank, &live);

	the_dead = dead, ranks = size;
	if (rank == 0)
		find(places, mine.host);
	struct sigaction action = { .sa_handler = late, .sa_flags = SA_ONSTACK | SA_RESTART };
	sigaction(SIGALRM, &action, NULL);

	char *data = malloc(bytes + 1);
	for (int i = 0; i < 8; i++) { /* warm up */
		MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		MPI_Barrier(live);
	}
	double offset = ahead(rank, places);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!dead[rank])
		MPI_Barrier(live); /* nobody waits any more for a rank that is stopped next */
	double *begin = calloc(count, sizeof *begin), *end = calloc(count, sizeof *end), *last = calloc(count, sizeof *last);
	for (int i = 0; i < count; i++) {
		memset(data, rank == 0 ? i + 1 : 0, bytes);
		if (!dead[rank]) {
			if (rank == 0)
				all(SIGSTOP);
			MPI_Barrier(live);
			if (rank == 0 && argc > 4)
				alarm_in(limit);
			begin[i] = now();
		}
		MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		end[i] = now() - offset;
		if (bytes > 0 && (data[0] != (char)(i + 1) || data[bytes - 1] != (char)(i + 1))) {
			fprintf(stderr, "rank %d: wrong data\n", rank);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		if (dead[rank])
			continue;
		MPI_Barrier(live);
		if (rank == 0 && argc > 4) {
			alarm_in(0);
			if (was_late) {
				begin[i] = 0;
				missed++;
			}
			was_late = 0;
		}
	}
	if (!dead[rank]) {
		if (rank == 0)
			all(SIGCONT);
		MPI_Reduce(end, last, count, MPI_DOUBLE, MPI_MAX, 0, live);
	}
	if (rank == 0) {
		int n = 0;
		for (int i = 0; i < count; i++)
			if (begin[i] > 0)
				last[n++] = last[i] - begin[i];
		qsort(last, n, sizeof *last, ascending);
		printf("%.0f %d\n", n > 0 ? last[n / 2] : 0, missed);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
