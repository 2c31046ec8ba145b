// sessions uses MPI without MPI_Init: sessions, one after another and two at a time. With "world" it
// uses MPI_Init, too, and goes on after MPI_Finalize. With "open" rank 0 exits with an open session; with
// "alarmed" in a signal handler. With "refused" the first session isn't opened.
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static MPI_Session called; // by the handler
static int with;

static int class(int code)
{
	MPI_Error_class(code, &code);
	return code;
}

static void handler(MPI_Session *session, int *code, ...)
{
	called = *session;
	with = class(*code);
}

// open makes a communicator of a process set.
static MPI_Comm comm_of(MPI_Session session, const char *pset, const char *tag)
{
	MPI_Group group;
	MPI_Comm comm;
	OK(MPI_Group_from_session_pset(session, pset, &group));
	OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
	OK(MPI_Group_free(&group));
	return comm;
}

static void psets(MPI_Session session)
{
	int n, length, flag, found = 0;
	char name[64];
	MPI_Info info;
	OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
	CHECK(n == 2);
	for (int i = 0; i < n; i++) {
		length = 0;
		OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
		CHECK(length > 1 && length <= (int)sizeof name);
		OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
		CHECK((int)strlen(name) + 1 == length);
		found += strcmp(name, "mpi://WORLD") == 0 || strcmp(name, "mpi://SELF") == 0;
		length = 4;
		OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
		CHECK(strcmp(name, "mpi") == 0 && length > 4);
	}
	CHECK(found == 2);
	char size[16];
	length = sizeof size;
	OK(MPI_Session_get_pset_info(session, "mpi://SELF", &info));
	OK(MPI_Info_get_string(info, "mpi_size", &length, size, &flag));
	CHECK(flag && strcmp(size, "1") == 0);
	OK(MPI_Info_free(&info));
}

static void level(void)
{
	MPI_Session session;
	MPI_Info info, used;
	char value[64];
	int length = sizeof value, flag;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
	OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
	OK(MPI_Session_get_info(session, &used));
	OK(MPI_Info_get_string(used, "thread_level", &length, value, &flag));
	CHECK(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
	OK(MPI_Info_free(&used));
	OK(MPI_Session_finalize(&session));
	CHECK(session == MPI_SESSION_NULL);
	OK(MPI_Info_set(info, "thread_level", "many"));
	CHECK(class(MPI_Session_init(info, MPI_ERRORS_RETURN, &session)) == MPI_ERR_INFO_VALUE);
	OK(MPI_Info_free(&info));
}

// buffers sends from the session's buffer, which communicators of communicators use, too.
static void buffers(MPI_Session session, MPI_Comm comm)
{
	enum { N = 1000 };
	static char buffer[N * sizeof(int) + MPI_BSEND_OVERHEAD];
	int out[N], in[N], rank, size, n;
	void *was;
	MPI_Request request;
	MPI_Comm dup;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	OK(MPI_Comm_dup(comm, &dup));
	CHECK(class(MPI_Bsend(out, N, MPI_INT, (rank + 1) % size, 0, dup)) == MPI_ERR_BUFFER);
	OK(MPI_Session_attach_buffer(session, buffer, sizeof buffer));
	for (int i = 0; i < N; i++)
		out[i] = rank + i;
	OK(MPI_Bsend(out, N, MPI_INT, (rank + 1) % size, 0, dup));
	OK(MPI_Session_iflush_buffer(session, &request));
	OK(MPI_Recv(in, N, MPI_INT, (rank + size - 1) % size, 0, dup, MPI_STATUS_IGNORE));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Session_flush_buffer(session));
	CHECK(in[0] == (rank + size - 1) % size && in[N - 1] == in[0] + N - 1);
	OK(MPI_Session_detach_buffer(session, &was, &n));
	CHECK(was == buffer && n == sizeof buffer);
	OK(MPI_Comm_free(&dup));
}

static void errors(MPI_Session session)
{
	MPI_Group group;
	MPI_Errhandler mine, set;
	int n, length = -1;
	char name[8];
	CHECK(class(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group)) == MPI_ERR_ARG);
	CHECK(class(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &n, name)) == MPI_ERR_ARG);
	CHECK(class(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name)) == MPI_ERR_ARG);
	OK(MPI_Session_create_errhandler(handler, &mine));
	OK(MPI_Session_set_errhandler(session, mine));
	OK(MPI_Session_get_errhandler(session, &set));
	CHECK(set == mine);
	OK(MPI_Errhandler_free(&set));
	CHECK(class(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &n, name)) == MPI_ERR_ARG);
	CHECK(called == session && with == MPI_ERR_ARG);
	OK(MPI_Session_call_errhandler(session, MPI_ERR_TRUNCATE));
	CHECK(with == MPI_ERR_TRUNCATE);
	OK(MPI_Errhandler_free(&mine));
	OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
	CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
}

static void sum(MPI_Comm comm, int expected)
{
	int one = 1, all = 0;
	OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm));
	CHECK(all == expected);
}

// refused uses MPI_Init after a session that wasn't opened.
static int refused(void)
{
	MPI_Session session;
	MPI_Info info;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "thread_level", "many"));
	CHECK(class(MPI_Session_init(info, MPI_ERRORS_RETURN, &session)) == MPI_ERR_INFO_VALUE);
	OK(MPI_Info_free(&info));
	OK(MPI_Init(NULL, NULL));
	sum(MPI_COMM_WORLD, 2);
	OK(MPI_Finalize());
	return wrong > 0;
}

static void on_alarm(int s)
{
	(void)s;
	exit(3);
}

// alarmed exits in a signal handler, which interrupts a function of MPI.
static int alarmed(void)
{
	MPI_Session session;
	MPI_Comm all;
	int rank, flag = 0;
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
	all = comm_of(session, "mpi://WORLD", "all");
	MPI_Comm_rank(all, &rank);
	if (rank == 0) {
		signal(SIGALRM, on_alarm);
		ualarm(300000, 0);
	}
	while (MPI_Iprobe(1 - rank, 0, all, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag)
		;
	return 0;
}

int main(int argc, char **argv)
{
	int flag, n, rank, world = argc > 1 && strcmp(argv[1], "world") == 0;
	MPI_Session first, second;
	MPI_Comm all, self;
	if (argc > 1 && strcmp(argv[1], "refused") == 0)
		return refused();
	if (argc > 1 && strcmp(argv[1], "alarmed") == 0)
		return alarmed();
	if (world)
		OK(MPI_Init(&argc, &argv));
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first));
	OK(MPI_Initialized(&flag));
	CHECK(flag == world);
	all = comm_of(first, "mpi://WORLD", "all");
	self = comm_of(first, "mpi://SELF", "self");
	MPI_Comm_size(all, &n);
	MPI_Comm_rank(all, &rank);
	sum(all, n);
	sum(self, 1);
	psets(first);
	errors(first);
	buffers(first, all);
	level();
	if (argc > 1 && strcmp(argv[1], "open") == 0 && rank == 0)
		exit(0);
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
	CHECK(second != first);
	OK(MPI_Comm_free(&all));
	OK(MPI_Comm_free(&self));
	OK(MPI_Session_finalize(&first));
	CHECK(first == MPI_SESSION_NULL);
	if (world)
		OK(MPI_Finalize());
	OK(MPI_Finalized(&flag));
	CHECK(flag == world);
	all = comm_of(second, "mpi://WORLD", "again");
	sum(all, n);
	OK(MPI_Comm_free(&all));
	OK(MPI_Session_finalize(&second));
	OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second)); // after there was none
	all = comm_of(second, "mpi://WORLD", "again");
	sum(all, n);
	OK(MPI_Comm_free(&all));
	OK(MPI_Session_finalize(&second));
	if (rank == 0 && fork() == 0)
		exit(0); // a child of fork has nothing to leave
	printf("rank %d of %d is through\n", rank, n);
	return wrong > 0;
}
