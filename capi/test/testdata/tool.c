// tool HOW uses MPI_T on two ranks. HOW is variables (all are listed, and their handles tried), counts
// (messages are counted), errors (wrong calls), control (the tree of broadcasts is set before MPI_Init),
// or deaths (rank 1 loses a replica, and hears of it).
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call)                                                          \
	do {                                                              \
		int is = (call);                                          \
		if (is != MPI_SUCCESS) {                                  \
			fprintf(stderr, "%s: code %d\n", #call, is);      \
			exit(1);                                          \
		}                                                         \
	} while (0)
#define WANT(code, call)                                                          \
	do {                                                                      \
		int is = (call);                                                  \
		if (is != (code)) {                                               \
			fprintf(stderr, "%s: code %d, not " #code "\n", #call, is); \
			exit(1);                                                  \
		}                                                                 \
	} while (0)
#define CHECK(what)                                              \
	do {                                                     \
		if (!(what)) {                                   \
			fprintf(stderr, "not so: %s\n", #what);  \
			exit(1);                                 \
		}                                                \
	} while (0)

static int rank;

static void controls(void)
{
	int n;
	OK(MPI_T_cvar_get_num(&n));
	for (int i = 0; i < n; i++) {
		char name[64], desc[256], text[2048];
		int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, scope, count, back, needed = 0;
		MPI_Datatype type;
		MPI_T_enum names;
		MPI_T_cvar_handle h;
		OK(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &names, desc, &desc_len, &bind, &scope));
		CHECK(name_len == (int)strlen(name) + 1 && bind == MPI_T_BIND_NO_OBJECT);
		OK(MPI_T_cvar_get_info(i, NULL, &needed, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
		CHECK(needed == name_len);
		char few[3] = "xx";
		needed = 3;
		OK(MPI_T_cvar_get_info(i, few, &needed, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
		CHECK(needed == name_len && strlen(few) == 2 && strncmp(few, name, 2) == 0);
		OK(MPI_T_cvar_get_index(name, &back));
		CHECK(back == i);
		OK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count));
		if (type == MPI_CHAR) {
			CHECK(count > 1 && count <= (int)sizeof text);
			OK(MPI_T_cvar_read(h, text));
		} else if (type == MPI_DOUBLE) {
			double d;
			OK(MPI_T_cvar_read(h, &d));
			snprintf(text, sizeof text, "%g", d);
		} else {
			int v;
			CHECK(type == MPI_INT && count == 1);
			OK(MPI_T_cvar_read(h, &v));
			snprintf(text, sizeof text, "%d", v);
			if (names != MPI_T_ENUM_NULL) {
				int items, value, length = sizeof text;
				OK(MPI_T_enum_get_info(names, &items, NULL, NULL));
				CHECK(v >= 0 && v < items);
				OK(MPI_T_enum_get_item(names, v, &value, text, &length));
				CHECK(value == v);
			}
		}
		if (scope == MPI_T_SCOPE_READONLY)
			WANT(MPI_T_ERR_CVAR_SET_NEVER, MPI_T_cvar_write(h, text));
		OK(MPI_T_cvar_handle_free(&h));
		CHECK(h == MPI_T_CVAR_HANDLE_NULL);
		if (rank == 0)
			printf("%s=%s\n", name, text);
	}
}

static unsigned long long value(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
	unsigned long long v;
	OK(MPI_T_pvar_read(s, h, &v));
	return v;
}

static void variables(void)
{
	int n, cats, in_cats = 0;
	MPI_T_pvar_session s;
	controls();
	OK(MPI_T_pvar_session_create(&s));
	OK(MPI_T_pvar_get_num(&n));
	for (int i = 0; i < n; i++) {
		char name[64], desc[256];
		int name_len = sizeof name, desc_len = sizeof desc, verbosity, class, bind, readonly, continuous, atomic, count, back;
		MPI_Datatype type;
		MPI_T_enum names;
		MPI_T_pvar_handle h;
		OK(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &names, desc, &desc_len, &bind, &readonly, &continuous, &atomic));
		CHECK(type == MPI_UNSIGNED_LONG_LONG);
		OK(MPI_T_pvar_get_index(name, class, &back));
		CHECK(back == i);
		WANT(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &back));
		OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count));
		CHECK(count == 1);
		WANT(continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS, MPI_T_pvar_start(s, h));
		WANT(readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS, MPI_T_pvar_reset(s, h));
		value(s, h);
		OK(MPI_T_pvar_handle_free(s, &h));
	}
	OK(MPI_T_pvar_session_free(&s));
	CHECK(s == MPI_T_PVAR_SESSION_NULL);
	OK(MPI_T_category_get_num(&cats));
	for (int i = 0; i < cats; i++) {
		char name[64];
		int name_len = sizeof name, cvars, pvars, inner, events, back, list[64];
		OK(MPI_T_category_get_info(i, name, &name_len, NULL, NULL, &cvars, &pvars, &inner));
		OK(MPI_T_category_get_num_events(i, &events));
		OK(MPI_T_category_get_index(name, &back));
		CHECK(back == i && inner == 0);
		OK(MPI_T_category_get_pvars(i, 64, list));
		in_cats += pvars;
		if (rank == 0)
			printf("%s: %d controls, %d counters, %d events\n", name, cvars, pvars, events);
	}
	CHECK(in_cats == n);
}

static MPI_T_pvar_handle counter(MPI_T_pvar_session s, const char *name, int class)
{
	int i, count;
	MPI_T_pvar_handle h;
	OK(MPI_T_pvar_get_index(name, class, &i));
	OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count));
	return h;
}

// Rank 0 sends a hundred messages, half of them counted, and the count outlives MPI_Finalize.
static void counts(void)
{
	MPI_T_pvar_session s;
	OK(MPI_T_pvar_session_create(&s));
	MPI_T_pvar_handle sent = counter(s, "messages_sent", MPI_T_PVAR_CLASS_COUNTER);
	MPI_T_pvar_handle unexpected = counter(s, "messages_unexpected", MPI_T_PVAR_CLASS_LEVEL);
	MPI_T_pvar_handle posted = counter(s, "receives_posted", MPI_T_PVAR_CLASS_LEVEL);
	int x = 0;
	for (int i = 0; i < 100; i++) {
		if (i == 50)
			OK(MPI_T_pvar_start(s, sent));
		if (rank == 0)
			OK(MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
	}
	OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
	CHECK(value(s, sent) == (rank == 0 ? 50 : 0));
	if (rank == 1) {
		int there = 0;
		while (!there)
			MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		CHECK(value(s, unexpected) >= 1);
		for (int i = 0; i < 100; i++)
			OK(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		CHECK(value(s, unexpected) == 0);
		MPI_Request r;
		OK(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &r));
		CHECK(value(s, posted) >= 1);
		OK(MPI_Cancel(&r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
	}
	OK(MPI_Finalize());
	CHECK(value(s, sent) == (rank == 0 ? 50 : 0));
	printf("rank %d: counted\n", rank);
	OK(MPI_T_finalize());
	exit(0);
}

static void errors(void)
{
	int n, x;
	MPI_T_cvar_handle c;
	MPI_T_pvar_handle h;
	MPI_T_pvar_session s, other;
	MPI_T_event_registration r;
	unsigned long long v;
	WANT(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_handle_alloc(-1, NULL, &c, &n));
	WANT(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_get_info(1000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	WANT(MPI_T_ERR_INVALID_NAME, MPI_T_cvar_get_index("no such thing", &x));
	WANT(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &x));
	OK(MPI_T_pvar_session_create(&s));
	OK(MPI_T_pvar_session_create(&other));
	WANT(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_handle_alloc(s, 1000, NULL, &h, &n));
	WANT(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_handle_alloc(MPI_T_PVAR_SESSION_NULL, 0, NULL, &h, &n));
	OK(MPI_T_pvar_handle_alloc(s, 0, NULL, &h, &n));
	WANT(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(other, h, &v));
	WANT(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &v));
	OK(MPI_T_pvar_session_free(&s));
	WANT(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_read(s, h, &v));
	WANT(MPI_T_ERR_INVALID_HANDLE, MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL));
	WANT(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_info(1000, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	WANT(MPI_T_ERR_INVALID_INDEX, MPI_T_event_handle_alloc(1000, NULL, MPI_INFO_NULL, &r));
	WANT(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_read((MPI_T_event_instance)77, 0, &x));
	WANT(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	MPI_Count ticks, first, second;
	MPI_T_source_order order;
	OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &order, &ticks, NULL, NULL));
	OK(MPI_T_source_get_timestamp(0, &first));
	OK(MPI_T_source_get_timestamp(0, &second));
	CHECK(order == MPI_T_SOURCE_ORDERED && ticks == 1000000000 && second >= first);
	OK(MPI_T_finalize());
	WANT(MPI_T_ERR_NOT_INITIALIZED, MPI_T_cvar_get_num(&n));
	WANT(MPI_T_ERR_NOT_INITIALIZED, MPI_T_finalize());
	OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &n));
	printf("rank %d: refused\n", rank);
}

// Between MPI_T_init_thread and MPI_Init.
static void control(void)
{
	int i, count, n;
	MPI_T_cvar_handle h;
	OK(MPI_T_cvar_get_index("bcast", &i));
	OK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count));
	char text[count];
	WANT(MPI_T_ERR_INVALID, MPI_T_cvar_write(h, strcpy(text, "tree=oak")));
	OK(MPI_T_cvar_write(h, strcpy(text, "tree=lame,correction=checked")));
	OK(MPI_Init(NULL, NULL));
	WANT(MPI_T_ERR_CVAR_SET_NOT_NOW, MPI_T_cvar_write(h, strcpy(text, "auto")));
	OK(MPI_T_cvar_read(h, text));
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	OK(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD));
	printf("rank %d: %s\n", rank, text);
}

static volatile int victim = -1, silent = -1, freed;

static void died(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
	int all[3], type = -1;
	MPI_Count at;
	OK(MPI_T_event_copy(e, all));
	OK(MPI_T_event_read(e, 0, &type));
	OK(MPI_T_event_get_timestamp(e, &at));
	CHECK(type == all[0] && at > 0 && safety == MPI_T_CB_REQUIRE_THREAD_SAFE && strcmp(user, "user") == 0);
	silent = all[2];
	victim = all[0];
}

static void gone(MPI_T_event_registration r, MPI_T_cb_safety safety, void *user)
{
	freed = strcmp(user, "last") == 0;
}

static void deaths(void)
{
	int i, n, x = rank, elements = 3;
	MPI_Datatype types[3];
	MPI_Aint at[3];
	MPI_T_event_registration r;
	MPI_T_pvar_session s;
	OK(MPI_T_pvar_session_create(&s));
	MPI_T_pvar_handle h = counter(s, "deaths", MPI_T_PVAR_CLASS_COUNTER), own = counter(s, "substitutions", MPI_T_PVAR_CLASS_COUNTER);
	OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
	OK(MPI_T_event_get_index("process_died", &i));
	OK(MPI_T_event_get_info(i, NULL, NULL, NULL, types, at, &elements, NULL, NULL, NULL, NULL, NULL));
	CHECK(elements == 3 && types[2] == MPI_INT && at[2] == 8);
	OK(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r));
	OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, "user", died));
	for (n = 0; n < 2000 && (victim < 0 || value(s, h) == 0); n++) { // the fault comes at the 20th send
		OK(MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 0, &i, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		usleep(1000);
	}
	// The replicas of a rank don't hear at the same time: all go on to the same number of messages.
	for (; n < 2000; n++)
		OK(MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 0, &i, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(value(s, h) == 1 && value(s, own) == (rank == 1));
	OK(MPI_T_event_handle_free(r, "last", gone));
	for (n = 0; n < 5000 && !freed; n++)
		usleep(1000);
	CHECK(freed);
	printf("rank %d: a replica of rank %d has died (%d)\n", rank, victim, silent);
}

int main(int argc, char **argv)
{
	int provided, n;
	const char *how = argv[1];
	WANT(MPI_T_ERR_NOT_INITIALIZED, MPI_T_pvar_get_num(&n));
	OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
	if (strcmp(how, "control") == 0) {
		control();
	} else {
		OK(MPI_Init(&argc, &argv));
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		if (strcmp(how, "variables") == 0)
			variables();
		else if (strcmp(how, "counts") == 0)
			counts();
		else if (strcmp(how, "errors") == 0)
			errors();
		else
			deaths();
	}
	fflush(stdout);
	OK(MPI_T_finalize());
	OK(MPI_Finalize());
	return 0;
}
