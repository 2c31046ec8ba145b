// window tests windows whose memory the ranks of a host share. Its first argument names what it
// does; without one it checks all that goes well.
#include <mpi.h>
#include <mpi-ext.h>

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int rank, size;

static int mapped(void)
{
	char line[4096];
	int n = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps))
		n += strstr(line, "banyan-window") != NULL;
	fclose(maps);
	return n;
}

static int opened(void)
{
	int n = 0;
	char name[64], target[256];
	for (int fd = 3; fd < 256; fd++) {
		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		ssize_t length = readlink(name, target, sizeof target - 1);
		if (length > 0) {
			target[length] = 0;
			n += strstr(target, "banyan-window") != NULL;
		}
	}
	return n;
}

// Each rank has rank+1 integers, but rank 1 has none. All see all.
static void parts(void)
{
	int *mine, unit, mistaken = 0;
	MPI_Aint bytes;
	MPI_Win w;
	MPI_Aint own = rank == 1 ? 0 : (rank + 1) * (MPI_Aint)sizeof(int);
	OK(MPI_Win_allocate_shared(own, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w));
	for (int i = 0; i < own / 4; i++) {
		mistaken += mine[i] != 0;
		mine[i] = 100 * rank + i;
	}
	OK(MPI_Win_fence(0, w));
	int *first = NULL, *expected = NULL;
	for (int r = 0; r < size; r++) {
		int *p;
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &p));
		CHECK(unit == sizeof(int) && bytes == (r == 1 ? 0 : (r + 1) * 4));
		if (r == 0)
			expected = first = p;
		CHECK(p == expected); // the parts lie one after another
		for (int i = 0; i < bytes / 4; i++)
			mistaken += p[i] != 100 * r + i;
		expected = p + bytes / 4;
	}
	CHECK(mistaken == 0);
	int *null;
	OK(MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &null));
	CHECK(null == first && bytes == 4);
	OK(MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, w));
	CHECK(mapped() == 1);
	OK(MPI_Win_free(&w));
	CHECK(w == MPI_WIN_NULL && mapped() == 0 && opened() == 0);
}

static void hints(void)
{
	MPI_Info info, used;
	MPI_Win w;
	char *mine, *p, value[8];
	int flag, length = sizeof value;
	MPI_Aint bytes, unit;
	MPI_Info_create(&info);
	MPI_Info_set(info, "alloc_shared_noncontig", "true");
	OK(MPI_Win_allocate_shared_c(3, 1, info, MPI_COMM_WORLD, &mine, &w));
	memset(mine, 'a' + rank, 3);
	OK(MPI_Win_fence(0, w));
	for (int r = 0; r < size; r++) {
		OK(MPI_Win_shared_query_c(w, r, &bytes, &unit, &p));
		CHECK(bytes == 3 && unit == 1 && (intptr_t)p % 4096 == 0 && p[2] == 'a' + r);
	}
	OK(MPI_Win_get_info(w, &used));
	OK(MPI_Info_get_string(used, "alloc_shared_noncontig", &length, value, &flag));
	CHECK(flag && strcmp(value, "true") == 0);
	MPI_Info_free(&used);
	MPI_Info_set(info, "no_locks", "false");
	OK(MPI_Win_set_info(w, info));
	OK(MPI_Win_get_info(w, &used));
	length = sizeof value;
	OK(MPI_Info_get_string(used, "no_locks", &length, value, &flag));
	CHECK(flag && strcmp(value, "false") == 0);
	MPI_Info_free(&used);
	MPI_Info_free(&info);
	OK(MPI_Win_free(&w));
}

static int copied, deleted;
static int on_copy(MPI_Win w, int key, void *extra, void *in, void *out, int *flag) { copied++; return MPI_SUCCESS; }
static int on_delete(MPI_Win w, int key, void *value, void *extra)
{
	deleted += value == &copied && extra == &deleted ? 1 : 100;
	return MPI_SUCCESS;
}

static void attributes(void)
{
	long here[2];
	MPI_Win w;
	void *value;
	int flag, key, length;
	char name[MPI_MAX_OBJECT_NAME];
	OK(MPI_Win_create(here, sizeof here, sizeof here[0], MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPI_Win_get_attr(w, MPI_WIN_BASE, &value, &flag));
	CHECK(flag && value == here);
	OK(MPI_Win_get_attr(w, MPI_WIN_SIZE, &value, &flag));
	CHECK(flag && *(MPI_Aint *)value == sizeof here);
	OK(MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &value, &flag));
	CHECK(flag && *(int *)value == sizeof here[0]);
	OK(MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &value, &flag));
	CHECK(flag && *(int *)value == MPI_WIN_FLAVOR_CREATE);
	OK(MPI_Win_get_attr(w, MPI_WIN_MODEL, &value, &flag));
	CHECK(flag && *(int *)value == MPI_WIN_UNIFIED);
	OK(MPI_Win_create_keyval(on_copy, on_delete, &key, &deleted));
	OK(MPI_Win_get_attr(w, key, &value, &flag));
	CHECK(!flag);
	OK(MPI_Win_set_attr(w, key, &copied));
	OK(MPI_Win_get_attr(w, key, &value, &flag));
	CHECK(flag && value == &copied);
	OK(MPI_Win_delete_attr(w, key));
	CHECK(deleted == 1);
	OK(MPI_Win_set_attr(w, key, &copied));
	OK(MPI_Win_free_keyval(&key));
	OK(MPI_Win_get_name(w, name, &length));
	CHECK(length == 0);
	OK(MPI_Win_set_name(w, "halo"));
	OK(MPI_Win_get_name(w, name, &length));
	CHECK(length == 4 && strcmp(name, "halo") == 0);

	MPI_Group of_window, of_world;
	int same;
	OK(MPI_Win_get_group(w, &of_window));
	MPI_Comm_group(MPI_COMM_WORLD, &of_world);
	MPI_Group_compare(of_window, of_world, &same);
	CHECK(same == MPI_IDENT);
	MPI_Group_free(&of_window);
	MPI_Group_free(&of_world);

	void *p;
	int unit;
	MPI_Aint bytes;
	for (int r = 0; r < size; r++) { // what another rank has brought can't be seen
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &p));
		CHECK(r == rank ? p == here && bytes == sizeof here : p == NULL && bytes == 0);
	}
	OK(MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &p)); // the first part that isn't empty: rank 0's
	CHECK(rank == 0 ? p == here && bytes == sizeof here : p == NULL && bytes == 0);
	OK(MPI_Win_free(&w));
	CHECK(deleted == 2 && copied == 0);

	OK(MPI_Win_allocate(8 * (rank + 1), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w));
	*(int64_t *)p = rank;
	OK(MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &value, &flag));
	CHECK(flag && *(int *)value == MPI_WIN_FLAVOR_ALLOCATE);
	OK(MPI_Win_fence(0, w));
	OK(MPI_Win_shared_query(w, size - 1, &bytes, &unit, &p));
	CHECK(bytes == 8 * size && *(int64_t *)p == size - 1);
	OK(MPI_Win_free(&w));
}

// What isn't atomic is added up under exclusive locks; shared locks and MPI_Win_sync pass a word on.
static void locks(void)
{
	enum { rounds = 2000 };
	volatile long *mine, *sum;
	MPI_Win w;
	MPI_Aint bytes;
	int unit;
	OK(MPI_Win_allocate_shared(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w));
	OK(MPI_Win_shared_query(w, size - 1, &bytes, &unit, &sum));
	for (int i = 0; i < rounds; i++) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, w));
		long was = sum[0];
		if (i % 512 == 0)
			usleep(50);
		sum[0] = was + 1;
		OK(MPI_Win_flush(size - 1, w));
		OK(MPI_Win_unlock(size - 1, w));
	}
	OK(MPI_Win_fence(0, w));
	CHECK(sum[0] == (long)rounds * size);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, w)); // by all at once
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_unlock(0, w));
	OK(MPI_Win_lock_all(0, w));
	volatile long *token;
	OK(MPI_Win_shared_query(w, 0, &bytes, &unit, &token));
	for (int i = 0; i < 20; i++) { // around the ring
		while (token[1] != (long)i * size + rank)
			OK(MPI_Win_sync(w));
		OK(MPI_Win_sync(w));
		token[1]++;
		OK(MPI_Win_flush_all(w));
		OK(MPI_Win_flush_local(0, w));
		OK(MPI_Win_flush_local_all(w));
	}
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w));
	OK(MPI_Win_unlock(MPI_PROC_NULL, w));
	OK(MPI_Win_free(&w));
}

static MPI_Win told;
static int code;
static void on_error(MPI_Win *w, int *error, ...) { told = *w, code = *error; }

static void handlers(void)
{
	MPI_Errhandler h, got;
	MPI_Win w;
	char *p;
	OK(MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w));
	OK(MPI_Win_get_errhandler(w, &got));
	CHECK(got == MPI_ERRORS_ARE_FATAL);
	OK(MPI_Win_create_errhandler(on_error, &h));
	OK(MPI_Win_set_errhandler(w, h));
	CHECK(MPI_Win_unlock(0, w) == MPI_ERR_RMA_SYNC && told == w && code == MPI_ERR_RMA_SYNC);
	OK(MPI_Win_call_errhandler(w, MPI_ERR_BASE));
	CHECK(code == MPI_ERR_BASE);
	OK(MPI_Errhandler_free(&h));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	int flag, key = MPI_WIN_SIZE;
	void *value;
	MPI_Aint bytes;
	CHECK(MPI_Win_lock(5, 0, 0, w) == MPI_ERR_LOCKTYPE);
	CHECK(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, w) == MPI_ERR_RANK);
	CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 1, w) == MPI_ERR_ASSERT);
	CHECK(MPI_Win_fence(1, w) == MPI_ERR_ASSERT);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
	CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w) == MPI_ERR_RMA_SYNC);
	CHECK(MPI_Win_lock_all(0, w) == MPI_ERR_RMA_SYNC);
	CHECK(MPI_Win_fence(0, w) == MPI_ERR_RMA_SYNC);
	MPI_Win copy = w;
	CHECK(MPI_Win_free(&copy) == MPI_ERR_RMA_SYNC && copy == w);
	OK(MPI_Win_unlock(0, w));
	CHECK(MPI_Win_unlock_all(w) == MPI_ERR_RMA_SYNC && MPI_Win_flush(0, w) == MPI_ERR_RMA_SYNC && MPI_Win_flush_all(w) == MPI_ERR_RMA_SYNC);
	CHECK(MPI_Win_set_attr(w, key, NULL) == MPI_ERR_KEYVAL && MPI_Win_get_attr(w, 77777, &value, &flag) == MPI_ERR_KEYVAL);
	CHECK(MPI_Win_shared_query(w, -1, &bytes, &flag, &value) == MPI_ERR_RANK);
	CHECK(MPI_Win_shared_query(w, 0, NULL, &flag, &value) == MPI_ERR_ARG);
	CHECK(MPI_Put(p, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, w) == MPI_ERR_RMA_SYNC);
	OK(MPI_Win_free(&copy));
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK(MPI_Win_fence(0, w) == MPI_ERR_WIN && MPI_Win_fence(0, MPI_WIN_NULL) == MPI_ERR_WIN);
	CHECK(MPI_Win_allocate_shared(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w) == MPI_ERR_SIZE);
	CHECK(MPI_Win_allocate_shared(1, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w) == MPI_ERR_DISP);
	CHECK(MPI_Win_allocate(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &w) == MPI_ERR_ARG);
	CHECK(MPI_Win_create(NULL, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w) == MPI_ERR_BASE);
	CHECK(MPI_Win_allocate_shared((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_SELF, &p, &w) == MPI_ERR_NO_MEM);
	CHECK(MPI_Win_allocate((MPI_Aint)1 << 50, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w) != MPI_SUCCESS);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	CHECK(mapped() == 0 && opened() == 0);
}

// split makes a window as portable programs do: by host.
static void split(void)
{
	MPI_Comm node;
	MPI_Win w;
	int *p, *q, n, unit;
	MPI_Aint bytes;
	OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
	MPI_Comm_size(node, &n);
	OK(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &p, &w));
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w));
	*p = rank + 1;
	OK(MPI_Win_sync(w));
	OK(MPI_Barrier(node));
	int sum = 0, all;
	for (int r = 0; r < n; r++) {
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &q));
		sum += *q;
	}
	OK(MPI_Win_unlock_all(w));
	MPI_Reduce(&sum, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d of %d ranks, sum %d\n", n, size, all);
	OK(MPI_Win_free(&w));
	MPI_Comm_free(&node);
}

static void wide(void)
{
	MPI_Win w;
	char *p;
	MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
}

// holder dies, or leaves, while it holds a lock for which the others wait. No wait hangs, and the
// part stays locked for good.
static void holder(int leaves)
{
	MPI_Win w;
	volatile int *p;
	MPI_Aint bytes;
	int unit;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	OK(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Win_shared_query(w, 0, &bytes, &unit, &p));
	if (rank == 1) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
		*p = 1;
		OK(MPI_Barrier(MPI_COMM_WORLD));
		usleep(30000);
		if (!leaves)
			raise(SIGKILL);
		return;
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	const int want = leaves ? MPI_ERR_RMA_SYNC : MPIX_ERR_PROC_FAILED;
	CHECK(MPI_Win_lock(rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w) == want);
	CHECK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w) == want);
	CHECK(MPI_Win_lock_all(0, w) == want);
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w)); // of another part
	OK(MPI_Win_unlock(2, w));
	if (leaves)
		return;
	CHECK(*p == 1); // what the dead rank has written can still be read
	CHECK(MPI_Win_fence(0, w) == MPIX_ERR_PROC_FAILED);
	OK(MPI_Win_free(&w));
	CHECK(mapped() == 0 && opened() == 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(what, "split") == 0) {
		split();
	} else if (strcmp(what, "wide") == 0) {
		wide();
	} else if (strcmp(what, "dies") == 0 || strcmp(what, "leaves") == 0) {
		holder(strcmp(what, "leaves") == 0);
	} else if (strcmp(what, "fatal") == 0) { // the others wait for a lock whose holder dies
		MPI_Win w;
		char *p;
		MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
		MPI_Win_set_name(w, "halo");
		if (rank == 1)
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1)
			raise(SIGKILL);
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
	} else if (strcmp(what, "hangs") == 0) {
		MPI_Win w;
		char *p;
		MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
		if (rank == 1)
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1)
			pause();
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
	} else if (strcmp(what, "mistake") == 0) {
		MPI_Win w;
		char *p;
		MPI_Win_allocate_shared(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w);
		MPI_Win_set_name(w, "halo");
		MPI_Win_lock(MPI_LOCK_SHARED, 9, 0, w);
	} else {
		parts();
		hints();
		attributes();
		locks();
		handlers();
	}
	return END;
}
