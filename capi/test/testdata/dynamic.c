/* Dynamic processes: ports, connections, spawning. The first argument says what to do. */
#include <mpi.h>
#include "mpi-ext.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(x)                                                                                                     \
	do {                                                                                                             \
		if (!(x)) {                                                                                                  \
			printf("line %d: %s is false\n", __LINE__, #x);                                                          \
			fflush(stdout);                                                                                          \
			MPI_Abort(MPI_COMM_WORLD, 3);                                                                            \
		}                                                                                                            \
	} while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static int rank, size;
static char *self;

static int class(int code) {
	int c;
	MPI_Error_class(code, &c);
	return c;
}

/* across uses an intercommunicator in all ways. first says on which side this is. */
static void across(MPI_Comm inter, int first) {
	int local, remote, me, is;
	OK(MPI_Comm_test_inter(inter, &is));
	CHECK(is);
	OK(MPI_Comm_size(inter, &local));
	OK(MPI_Comm_remote_size(inter, &remote));
	OK(MPI_Comm_rank(inter, &me));

	/* to and from each, with requests of the world between */
	MPI_Request r[2 * 64 + 2];
	int out = 100 * first + me, in[64], own = me, back = -1;
	CHECK(remote <= 64);
	int n = 0;
	OK(MPI_Irecv(&back, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r[n++]));
	for (int i = 0; i < remote; i++) {
		OK(MPI_Irecv(&in[i], 1, MPI_INT, i, 7, inter, &r[n++]));
		OK(MPI_Isend(&out, 1, MPI_INT, i, 7, inter, &r[n++]));
	}
	OK(MPI_Isend(&own, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r[n++]));
	int left = n, at, flag;
	MPI_Status s;
	OK(MPI_Waitany(n, r, &at, &s));
	CHECK(at != MPI_UNDEFINED);
	left--;
	while (left > n / 2) {
		int some[130], count;
		OK(MPI_Waitsome(n, r, &count, some, MPI_STATUSES_IGNORE));
		left -= count;
	}
	OK(MPI_Testany(n, r, &at, &flag, &s));
	OK(MPI_Waitall(n, r, MPI_STATUSES_IGNORE));
	CHECK(back == me);
	for (int i = 0; i < remote; i++) CHECK(in[i] == 100 * !first + i);

	/* large messages */
	static char big[3 << 20], got[3 << 20];
	memset(big, 'a' + first, sizeof big);
	if (me < remote) {
		OK(MPI_Sendrecv(big, sizeof big, MPI_CHAR, me % remote, 1, got, sizeof got, MPI_CHAR, me % remote, 1, inter, &s));
		CHECK(got[0] == 'a' + !first && got[sizeof got - 1] == 'a' + !first);
	}

	/* collectives, merged, duplicated and split */
	int sum = 0, one = 1, want;
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
	CHECK(sum == remote);
	MPI_Comm all, twin, part;
	OK(MPI_Intercomm_merge(inter, !first, &all));
	OK(MPI_Comm_size(all, &want));
	CHECK(want == local + remote);
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
	CHECK(sum == local + remote);
	OK(MPI_Comm_dup(inter, &twin));
	OK(MPI_Barrier(twin));
	OK(MPI_Comm_free(&twin));
	int position;
	OK(MPI_Comm_rank(all, &position));
	OK(MPI_Comm_split(all, position % 2, 0, &part));
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part));
	CHECK(sum == (local + remote + 1 - position % 2) / 2);
	OK(MPI_Comm_free(&part));

	/* groups have one numbering */
	MPI_Group world, merged, both, mine;
	int result, zero = 0, there;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Comm_group(all, &merged));
	OK(MPI_Group_intersection(world, merged, &both));
	OK(MPI_Group_size(both, &want));
	CHECK(want >= local);
	OK(MPI_Group_rank(merged, &there));
	CHECK(there == position);
	OK(MPI_Comm_group(inter, &mine));
	OK(MPI_Group_translate_ranks(mine, 1, &zero, merged, &there));
	CHECK(there == (first ? 0 : remote));
	OK(MPI_Comm_create_group(all, mine, 3, &part));
	OK(MPI_Comm_compare(part, inter, &result));
	CHECK(result == MPI_UNEQUAL);
	OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part));
	CHECK(sum == local);
	OK(MPI_Comm_free(&part));
	OK(MPI_Group_free(&world));
	OK(MPI_Group_free(&merged));
	OK(MPI_Group_free(&both));
	OK(MPI_Group_free(&mine));

	/* a window over both */
	int *memory;
	MPI_Win win;
	OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &memory, &win));
	*memory = 0;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
	OK(MPI_Win_fence(0, win));
	CHECK(position > 0 || *memory == local + remote);
	OK(MPI_Win_free(&win));
	OK(MPI_Comm_free(&all));
}

static void done(const char *what) {
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		printf("%s: good\n", what);
		fflush(stdout);
	}
}

/* ports: the lower half of the world accepts, the upper one connects. */
static void ports(void) {
	MPI_Comm half, inter;
	int first = rank < size / 2;
	char port[MPI_MAX_PORT_NAME] = "";
	OK(MPI_Comm_split(MPI_COMM_WORLD, first, 0, &half));
	for (int round = 0; round < 3; round++) {
		if (rank == 0) {
			OK(MPI_Open_port(MPI_INFO_NULL, port));
			OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD));
		}
		if (rank == size - 1) OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (first)
			OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter));
		else
			OK(MPI_Comm_connect(port, MPI_INFO_NULL, size - size / 2 - 1, half, &inter));
		across(inter, first);
		if (round == 0)
			OK(MPI_Comm_free(&inter));
		else
			OK(MPI_Comm_disconnect(&inter));
		CHECK(inter == MPI_COMM_NULL);
		if (rank == 0) OK(MPI_Close_port(port));
	}
	OK(MPI_Comm_free(&half));
	done("ports");
}

/* errors: what can be wrong, at the root or everywhere. All processes of the group hear it. */
static void errors(void) {
	MPI_Comm inter;
	MPI_Info hints;
	char port[MPI_MAX_PORT_NAME] = "", other[MPI_MAX_PORT_NAME];
	int codes[2] = {-1, -1};
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK(class(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
	CHECK(inter == MPI_COMM_NULL);
	CHECK(class(MPI_Comm_connect("banyan-port:127.0.0.1:1:AAAAAAAAAAAAAAAAAAAAAA", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
	CHECK(class(MPI_Comm_accept("nonsense", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
	CHECK(class(MPI_Comm_accept("", MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter)) == MPI_ERR_ROOT);
	CHECK(class(MPI_Close_port("nonsense")) == MPI_ERR_PORT);
	CHECK(class(MPI_Comm_spawn("/nowhere/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes)) == MPI_ERR_SPAWN);
	CHECK(inter == MPI_COMM_NULL);
	CHECK(class(codes[0]) == MPI_ERR_SPAWN && class(codes[1]) == MPI_ERR_SPAWN); /* at all ranks */
	CHECK(class(MPI_Comm_spawn(self, MPI_ARGV_NULL, -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_ARG);
	CHECK(class(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1 << 30, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_SPAWN);
	CHECK(class(MPI_Comm_spawn(NULL, NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, NULL)) == MPI_ERR_ARG);
	CHECK(class(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, -1, MPI_COMM_WORLD, &inter, NULL)) == MPI_ERR_ROOT);
	CHECK(class(MPI_Comm_spawn(self, NULL, 1, (MPI_Info)MPI_COMM_WORLD, 0, MPI_COMM_WORLD, &inter, NULL)) == MPI_ERR_ARG);
	CHECK(class(MPI_Comm_spawn_multiple(0, NULL, NULL, NULL, NULL, 0, MPI_COMM_WORLD, &inter, NULL)) == MPI_ERR_ARG);
	CHECK(class(MPI_Comm_spawn(self, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_ARG);
	/* a program that ends without MPI_Init */
	codes[0] = codes[1] = -1;
	CHECK(class(MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter, codes)) == MPI_ERR_SPAWN);
	CHECK(class(codes[0]) == MPI_ERR_SPAWN && class(codes[1]) == MPI_ERR_SPAWN);
	OK(MPI_Info_create(&hints));
	OK(MPI_Info_set(hints, "wdir", "/nowhere"));
	CHECK(class(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, hints, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)) == MPI_ERR_SPAWN);
	/* nobody comes, nobody accepts, and the port is closed */
	OK(MPI_Info_set(hints, "timeout", "0.05"));
	if (rank == 0) OK(MPI_Open_port(MPI_INFO_NULL, port));
	CHECK(class(MPI_Comm_accept(port, hints, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
	CHECK(class(MPI_Comm_connect(port, hints, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
	OK(MPI_Info_set(hints, "timeout", "soon"));
	CHECK(class(MPI_Comm_accept(port, hints, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_INFO_VALUE);
	if (rank == 0) OK(MPI_Close_port(port));
	CHECK(class(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
	CHECK(class(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter)) == MPI_ERR_PORT);
	OK(MPI_Info_free(&hints));
	/* names */
	if (rank == 0) {
		char name[64];
		sprintf(name, "banyan test %d", (int)getpid());
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		CHECK(class(MPI_Lookup_name(name, MPI_INFO_NULL, other)) == MPI_ERR_NAME);
		CHECK(class(MPI_Unpublish_name(name, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
		OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
		CHECK(class(MPI_Publish_name(name, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
		OK(MPI_Lookup_name(name, MPI_INFO_NULL, other));
		CHECK(strcmp(port, other) == 0);
		OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
		OK(MPI_Close_port(port));
	}
	CHECK(class(MPI_Comm_join(-1, &inter)) == MPI_ERR_ARG);
	done("errors");
}

/* join: ranks 0 and 1 meet over a socket of a file system. */
static void join(const char *path) {
	MPI_Comm inter;
	if (rank < 2) {
		int fd;
		struct sockaddr_un { sa_family_t family; char path[108]; } at = {AF_UNIX, ""};
		strncpy(at.path, path, sizeof at.path - 1);
		if (rank == 0) {
			int l = socket(AF_UNIX, SOCK_STREAM, 0);
			CHECK(bind(l, (struct sockaddr *)&at, sizeof at) == 0 && listen(l, 1) == 0);
			OK(MPI_Send(&l, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
			fd = accept(l, 0, 0);
			close(l);
		} else {
			OK(MPI_Recv(&fd, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
			fd = socket(AF_UNIX, SOCK_STREAM, 0);
			CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
		}
		OK(MPI_Comm_join(fd, &inter));
		int in = -1;
		OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
		CHECK(in == 1 - rank);
		/* nothing is left in the socket */
		char c = 'x';
		CHECK(send(fd, &c, 1, 0) == 1 && recv(fd, &c, 1, 0) == 1 && c == 'x');
		close(fd);
		OK(MPI_Comm_disconnect(&inter));
	}
	done("join");
}

/* spawn: a job of children, one of several programs, and children of children. */
static void spawn(void) {
	MPI_Comm inter;
	char *one[] = {"child", "plain word", "", NULL};
	int codes[5] = {-1, -1, -1, -1, -1};
	OK(MPI_Comm_spawn(self, one, 2, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter, codes));
	CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
	across(inter, 1);
	OK(MPI_Comm_disconnect(&inter));

	char *first[] = {"part", "0", NULL}, *second[] = {"part", "1", NULL};
	char *commands[] = {self, self}, **arguments[] = {first, second};
	int procs[] = {1, 2};
	MPI_Info hints[2] = {MPI_INFO_NULL};
	OK(MPI_Info_create(&hints[1]));
	OK(MPI_Info_set(hints[1], "wdir", "/"));
	OK(MPI_Comm_spawn_multiple(2, commands, arguments, procs, hints, 0, MPI_COMM_WORLD, &inter, codes));
	across(inter, 1);
	OK(MPI_Info_free(&hints[1]));
	OK(MPI_Comm_disconnect(&inter));

	char *nested[] = {"nested", NULL};
	OK(MPI_Comm_spawn(self, nested, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	across(inter, 1);
	OK(MPI_Comm_free(&inter)); /* the end of the program disconnects */
	done("spawn");
}

static void child(int argc, char **argv, MPI_Comm parent) {
	char name[MPI_MAX_OBJECT_NAME];
	int length;
	CHECK(parent != MPI_COMM_NULL);
	OK(MPI_Comm_get_name(parent, name, &length));
	CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
	CHECK(getenv("BANYAN_PARENT") == NULL);
	if (strcmp(argv[1], "child") == 0) {
		CHECK(size == 2 && argc == 4 && strcmp(argv[2], "plain word") == 0 && argv[3][0] == 0);
	} else if (strcmp(argv[1], "part") == 0) {
		int *number, flag;
		char dir[100];
		OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
		CHECK(size == 3 && flag && *number == atoi(argv[2]) && *number == (rank > 0));
		CHECK((strcmp(getcwd(dir, sizeof dir), "/") == 0) == (rank > 0));
	} else if (strcmp(argv[1], "nested") == 0) {
		MPI_Comm inter;
		char *leaf[] = {"leaf", NULL};
		OK(MPI_Comm_spawn(self, leaf, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
		across(inter, 1);
		OK(MPI_Comm_disconnect(&inter));
	}
	across(parent, 0);
	OK(MPI_Comm_disconnect(&parent));
	OK(MPI_Comm_get_parent(&parent));
	CHECK(parent == MPI_COMM_NULL);
}

/* death: the last child dies, and the parents go on. */
static void death(void) {
	MPI_Comm inter;
	char *one[] = {"dies", NULL};
	OK(MPI_Comm_spawn(self, one, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	int x, code = MPI_Recv(&x, 1, MPI_INT, 1, 0, inter, MPI_STATUS_IGNORE);
	CHECK(class(code) == 16128); /* MPIX_ERR_PROC_FAILED */
	code = MPI_Barrier(inter);
	CHECK(class(code) == 16128);
	OK(MPI_Comm_free(&inter));
	int sum, in = 1;
	OK(MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == size);
	done("death");
}

/* lost: the last rank dies, and the others spawn without having handled that. It is an error at all,
   and after a shrink they spawn. What couldn't be reached doesn't count for the exit code. */
static void lost(void) {
	MPI_Comm inter, live;
	MPI_Group failed;
	int n;
	char *one[] = {"leaf", NULL};
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	MPI_Barrier(MPI_COMM_WORLD); /* the last rank may have left it and died before others leave */
	if (rank == size - 1) raise(SIGKILL);
	int codes[2] = {-1, -1};
	CHECK(class(MPI_Comm_spawn(self, one, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes)) == MPIX_ERR_PROC_FAILED);
	CHECK(inter == MPI_COMM_NULL && class(codes[0]) == MPI_ERR_SPAWN && class(codes[1]) == MPI_ERR_SPAWN);
	OK(MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed));
	OK(MPI_Group_size(failed, &n));
	CHECK(n == 1);
	OK(MPI_Group_free(&failed));
	OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &live));
	OK(MPI_Comm_spawn(self, one, 2, MPI_INFO_NULL, 0, live, &inter, MPI_ERRCODES_IGNORE));
	across(inter, 1);
	OK(MPI_Comm_disconnect(&inter));
	OK(MPI_Comm_free(&live));
	if (rank == 0) printf("lost: good\n");
}

/* unneeded: a child dies, and nobody needs it. */
static void unneeded(void) {
	MPI_Comm inter;
	char *one[] = {"dies unneeded", NULL};
	OK(MPI_Comm_spawn(self, one, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	OK(MPI_Comm_free(&inter));
	done("unneeded");
}

/* orphan: the parent dies, and the children end well. */
static void orphan(void) {
	MPI_Comm inter;
	char *one[] = {"orphan", NULL};
	OK(MPI_Comm_spawn(self, one, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	int x;
	OK(MPI_Recv(&x, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
	raise(SIGKILL);
}

/* aborts: a child aborts its own world, and the parents go on, or, with both, the connection. */
static void aborts(int both) {
	MPI_Comm inter;
	char *one[] = {both ? "aborts both" : "aborts", NULL};
	OK(MPI_Comm_spawn(self, one, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	int x, code = MPI_Recv(&x, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
	CHECK(class(code) == 16128); /* MPIX_ERR_PROC_FAILED */
	if (both) sleep(60);
	OK(MPI_Comm_free(&inter));
	done("aborts");
}

static void server(const char *name) {
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm inter;
	if (rank == 0) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
	}
	for (int i = 0; i < 2; i++) {
		OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
		across(inter, 1);
		OK(MPI_Comm_disconnect(&inter));
	}
	if (rank == 0) {
		OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
		OK(MPI_Close_port(port));
	}
	done("server");
}

static void client(const char *name) {
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm inter;
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	while (rank == 0 && MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(20000);
	OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
	across(inter, 0);
	OK(MPI_Comm_disconnect(&inter));
	done("client");
}

int main(int argc, char **argv) {
	MPI_Comm parent;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	path[n > 0 ? n : 0] = 0;
	self = path;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	OK(MPI_Comm_get_parent(&parent));
	const char *what = argv[1];
	if (strcmp(what, "ports") == 0)
		ports();
	else if (strcmp(what, "errors") == 0)
		errors();
	else if (strcmp(what, "join") == 0)
		join(argv[2]);
	else if (strcmp(what, "spawn") == 0)
		spawn();
	else if (strcmp(what, "death") == 0)
		death();
	else if (strcmp(what, "lost") == 0)
		lost();
	else if (strcmp(what, "unneeded") == 0)
		unneeded();
	else if (strcmp(what, "dies unneeded") == 0) {
		if (rank == 1) raise(SIGKILL);
	} else if (strcmp(what, "parent dies") == 0)
		orphan();
	else if (strcmp(what, "universe") == 0) {
		int *universe, flag;
		OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
		CHECK(flag);
		if (rank == 0) printf("%d\n", *universe);
	} else if (strcmp(what, "server") == 0)
		server(argv[2]);
	else if (strcmp(what, "client") == 0)
		client(argv[2]);
	else if (strcmp(what, "child aborts") == 0)
		aborts(0);
	else if (strcmp(what, "both abort") == 0)
		aborts(1);
	else if (strncmp(what, "aborts", 6) == 0) {
		if (rank == 1) MPI_Abort(what[6] ? parent : MPI_COMM_WORLD, 7);
		sleep(60);
	} else if (strcmp(what, "dies") == 0) {
		if (rank == 1) {
			usleep(100000);
			raise(SIGKILL);
		}
		int x;
		MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (strcmp(what, "orphan") == 0) {
		OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
		OK(MPI_Send(&rank, 1, MPI_INT, 0, 0, parent));
		int x, code = MPI_Recv(&x, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
		CHECK(class(code) == 16128);
		printf("orphan: good\n");
	} else
		child(argc, argv, parent);
	MPI_Finalize();
	return 0;
}
