/* The part of row.c that is about one-sided communication: rank 0 accesses rank 1's part of a
   window, whose memory the library has allocated, or the program. Rank 1 waits in a barrier. */
static MPI_Win windows[2] = {MPI_WIN_NULL, MPI_WIN_NULL}, win;
static MPI_Group peer = MPI_GROUP_NULL; /* the other one of ranks 0 and 1 */
static int locked; /* all parts, for as long as the operations last */

static void expose(int created)
{
	void *base;
	win = windows[created];
	if (win != MPI_WIN_NULL)
		return;
	if (created)
		MPI_Win_create(in, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	else
		MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	windows[created] = win;
	if (locked)
		MPI_Win_lock_all(0, win);
}

static void allocated(void)
{
	locked = 1;
	expose(0);
}

static void brought(void)
{
	locked = 1;
	expose(1);
}

/* Epochs of other kinds, each with one put. */
static void unlocked(void) { expose(0); }

static void paired(void)
{
	MPI_Group world;
	int other = 1 - rank;
	expose(0);
	if (peer != MPI_GROUP_NULL || rank > 1)
		return;
	MPI_Win_get_group(win, &world);
	MPI_Group_incl(world, 1, &other, &peer);
	MPI_Group_free(&world);
}

static void forget(void)
{
	for (int i = 0; i < 2; i++)
		if (windows[i] != MPI_WIN_NULL) {
			if (locked)
				MPI_Win_unlock_all(windows[i]);
			MPI_Win_free(&windows[i]);
		}
	if (peer != MPI_GROUP_NULL)
		MPI_Group_free(&peer);
}

static void lock(void)
{
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
		MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
		MPI_Win_unlock(1, win);
	}
}

static void alone(void)
{
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
		MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
		MPI_Win_unlock(1, win);
	}
}

static void everyone(void)
{
	if (rank == 0) {
		MPI_Win_lock_all(0, win);
		MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
		MPI_Win_unlock_all(win);
	}
}

/* Both want the lock. */
static void contend(void)
{
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
	MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
	MPI_Win_unlock(1, win);
}

static void access_part(void)
{
	MPI_Win_start(peer, 0, win);
	MPI_Put(out, bytes, MPI_BYTE, 1 - rank, 0, bytes, MPI_BYTE, win);
	MPI_Win_complete(win);
}

static void expose_part(void)
{
	MPI_Win_post(peer, 0, win);
	MPI_Win_wait(win);
}

/* Rank 0 puts to rank 1, and that one to it. */
static void pair(void)
{
	if (rank == 0) {
		access_part();
		expose_part();
	} else if (rank == 1) {
		expose_part();
		access_part();
	}
}

/* A fence, and a put. */
static void fence(void)
{
	MPI_Win_fence(0, win);
	if (rank == 0)
		MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
}

static void lastFence(void) { MPI_Win_fence(MPI_MODE_NOSUCCEED, win); }

static void put(void)
{
	if (rank == 0) {
		MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
		MPI_Win_flush(1, win);
	}
}

static void burst(void)
{
	if (rank == 0) {
		for (int i = 0; i < window; i++)
			MPI_Put(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
		MPI_Win_flush(1, win);
	}
}

static void get(void)
{
	if (rank == 0) {
		MPI_Get(out, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
		MPI_Win_flush(1, win);
	}
}

static void accumulate(void)
{
	if (rank == 0) {
		MPI_Accumulate(out, bytes / 8, MPI_DOUBLE, 1, 0, bytes / 8, MPI_DOUBLE, MPI_SUM, win);
		MPI_Win_flush(1, win);
	}
}

static void fetch(void)
{
	long one = 1, was;
	if (rank == 0) {
		MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, 0, MPI_SUM, win);
		MPI_Win_flush(1, win);
	}
}
