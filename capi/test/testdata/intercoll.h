// Collectives between two groups of ranks: each in its blocking, non-blocking and persistent form.
#include <stdint.h>
#include <string.h>

// DO calls a collective in its forms without a persistent request, KEPT in that. Between the forms, clear wipes what it receives into.
#define DO(A, a, name, clear, test, ...)                                    \
	do {                                                                \
		MPI_Request request;                                        \
		clear;                                                      \
		OK(MPI_##A##name(__VA_ARGS__, inter));                      \
		CHECK(test);                                                \
		clear;                                                      \
		OK(MPI_I##a##name(__VA_ARGS__, inter, &request));           \
		OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                  \
		CHECK(test);                                                \
	} while (0)

#define KEPT(name, clear, test, ...)                                                \
	do {                                                                        \
		MPI_Request request;                                                \
		OK(MPI_##name##_init(__VA_ARGS__, inter, MPI_INFO_NULL, &request)); \
		for (int again = 0; again < 2; again++) {                           \
			clear;                                                      \
			OK(MPI_Start(&request));                                    \
			OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                  \
			CHECK(test);                                                \
		}                                                                   \
		OK(MPI_Request_free(&request));                                     \
	} while (0)

static uint32_t digest;

static int same(const int *a, const int *b, int n)
{
	for (int i = 0; i < n; i++)
		digest = digest * 31 + (uint32_t)a[i];
	return !memcmp(a, b, n * sizeof(int));
}

static void collectives(void)
{
	static int out[MOST * MOST * N], in[MOST * MOST * N], want[MOST * MOST * N];
	int counts[MOST], displs[MOST], outcounts[MOST], outdispls[MOST];
	MPI_Datatype types[MOST];
	MPI_Request request;
	OK(MPI_Barrier(inter));
	OK(MPI_Ibarrier(inter, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	for (int i = 0; i < MOST * MOST * N; i++)
		out[i] = 1000 * rank + i;
#define CLEAR memset(in, 255, sizeof in)
	for (int world = 0; world < size; world++) { // the root
		int root = world == rank ? MPI_ROOT : (world < low) == first ? MPI_PROC_NULL : first ? world - low : world;
		memset(want, 255, sizeof want);
		int *buffer = root == MPI_ROOT ? out : in;
		if (root >= 0)
			for (int i = 0; i < N; i++)
				want[i] = 1000 * world + i;
		DO(B, b, cast, CLEAR, same(in, want, N), buffer, N, MPI_INT, root);
		DO(B, b, cast_c, CLEAR, same(in, want, N), buffer, (MPI_Count)N, MPI_INT, root);
		KEPT(Bcast, CLEAR, same(in, want, N), buffer, N, MPI_INT, root);
		if (root >= 0)
			for (int i = 0; i < N; i++)
				want[i] = 1000 * world + here * N + i;
		DO(S, s, catter, CLEAR, same(in, want, N), out, N, MPI_INT, in, N, MPI_INT, root);
		KEPT(Scatter, CLEAR, same(in, want, N), out, N, MPI_INT, in, N, MPI_INT, root);
		for (int r = 0; r < remote; r++)
			counts[r] = r % 3, displs[r] = r * N;
		memset(want, 255, sizeof want);
		int n = here % 3;
		if (root >= 0)
			for (int i = 0; i < n; i++)
				want[i] = 1000 * world + here * N + i;
		DO(S, s, catterv, CLEAR, same(in, want, N), out, counts, displs, MPI_INT, in, n, MPI_INT, root);
		KEPT(Scatterv, CLEAR, same(in, want, N), out, counts, displs, MPI_INT, in, n, MPI_INT, root);
		memset(want, 255, sizeof want);
		if (root == MPI_ROOT)
			for (int r = 0; r < remote; r++)
				for (int i = 0; i < N; i++)
					want[r * N + i] = 1000 * world_of(r) + i;
		DO(G, g, ather, CLEAR, same(in, want, remote * N), out, N, MPI_INT, in, N, MPI_INT, root);
		KEPT(Gather, CLEAR, same(in, want, remote * N), out, N, MPI_INT, in, N, MPI_INT, root);
		memset(want, 255, sizeof want);
		if (root == MPI_ROOT)
			for (int r = 0; r < remote; r++)
				for (int i = 0; i < counts[r]; i++)
					want[r * N + i] = 1000 * world_of(r) + i;
		DO(G, g, atherv, CLEAR, same(in, want, remote * N), out, n, MPI_INT, in, counts, displs, MPI_INT, root);
		KEPT(Gatherv, CLEAR, same(in, want, remote * N), out, n, MPI_INT, in, counts, displs, MPI_INT, root);
		memset(want, 255, sizeof want);
		if (root == MPI_ROOT)
			for (int i = 0; i < N; i++) {
				want[i] = 0;
				for (int r = 0; r < remote; r++)
					want[i] += 1000 * world_of(r) + i;
			}
		DO(R, r, educe, CLEAR, same(in, want, N), out, in, N, MPI_INT, MPI_SUM, root);
		KEPT(Reduce, CLEAR, same(in, want, N), out, in, N, MPI_INT, MPI_SUM, root);
	}
	for (int r = 0; r < remote; r++)
		for (int i = 0; i < N; i++)
			want[r * N + i] = 1000 * world_of(r) + i;
	DO(A, a, llgather, CLEAR, same(in, want, remote * N), out, N, MPI_INT, in, N, MPI_INT);
	KEPT(Allgather, CLEAR, same(in, want, remote * N), out, N, MPI_INT, in, N, MPI_INT);
	memset(want, 255, sizeof want);
	for (int r = 0; r < remote; r++)
		for (int i = 0; i < counts[r]; i++)
			want[r * N + i] = 1000 * world_of(r) + i;
	DO(A, a, llgatherv, CLEAR, same(in, want, remote * N), out, here % 3, MPI_INT, in, counts, displs, MPI_INT);
	KEPT(Allgatherv, CLEAR, same(in, want, remote * N), out, here % 3, MPI_INT, in, counts, displs, MPI_INT);
	// One way only: the second group gives nothing.
	memset(want, 255, sizeof want);
	if (!first)
		for (int r = 0; r < remote; r++)
			for (int i = 0; i < N; i++)
				want[r * N + i] = 1000 * world_of(r) + i;
	DO(A, a, llgather, CLEAR, same(in, want, remote * N), out, first ? N : 0, MPI_INT, in, first ? 0 : N, MPI_INT);
	for (int r = 0; r < remote; r++)
		for (int i = 0; i < N; i++)
			want[r * N + i] = 1000 * world_of(r) + here * N + i;
	DO(A, a, lltoall, CLEAR, same(in, want, remote * N), out, N, MPI_INT, in, N, MPI_INT);
	KEPT(Alltoall, CLEAR, same(in, want, remote * N), out, N, MPI_INT, in, N, MPI_INT);
	// Rank a of the first group gives rank b of the second (a+b) % N numbers, and gets as many.
	memset(want, 255, sizeof want);
	for (int r = 0; r < remote; r++) {
		counts[r] = outcounts[r] = (r + here) % N, displs[r] = outdispls[r] = r * N;
		for (int i = 0; i < counts[r]; i++)
			want[r * N + i] = 1000 * world_of(r) + here * N + i;
	}
	DO(A, a, lltoallv, CLEAR, same(in, want, remote * N), out, outcounts, outdispls, MPI_INT, in, counts, displs, MPI_INT);
	KEPT(Alltoallv, CLEAR, same(in, want, remote * N), out, outcounts, outdispls, MPI_INT, in, counts, displs, MPI_INT);
	for (int r = 0; r < remote; r++)
		displs[r] = outdispls[r] = r * N * sizeof(int), types[r] = MPI_INT;
	DO(A, a, lltoallw, CLEAR, same(in, want, remote * N), out, outcounts, outdispls, types, in, counts, displs, types);
	KEPT(Alltoallw, CLEAR, same(in, want, remote * N), out, outcounts, outdispls, types, in, counts, displs, types);
	int all = local * remote * N; // the same in both groups
	for (int i = 0; i < all; i++) {
		want[i] = 0;
		for (int r = 0; r < remote; r++)
			want[i] += 1000 * world_of(r) + i;
	}
	DO(A, a, llreduce, CLEAR, same(in, want, N), out, in, N, MPI_INT, MPI_SUM);
	KEPT(Allreduce, CLEAR, same(in, want, N), out, in, N, MPI_INT, MPI_SUM);
	DO(R, r, educe_scatter_block, CLEAR, same(in, want + here * remote * N, remote * N), out, in, remote * N, MPI_INT, MPI_SUM);
	KEPT(Reduce_scatter_block, CLEAR, same(in, want + here * remote * N, remote * N), out, in, remote * N, MPI_INT, MPI_SUM);
	int before = 0, share[MOST];
	for (int r = 0; r < local; r++) { // the last gets most
		share[r] = r < local - 1 ? r : all;
		all -= share[r];
		before += r < here ? share[r] : 0;
	}
	DO(R, r, educe_scatter, CLEAR, same(in, want + before, share[here]), out, in, share, MPI_INT, MPI_SUM);
	KEPT(Reduce_scatter, CLEAR, same(in, want + before, share[here]), out, in, share, MPI_INT, MPI_SUM);

	// Data with gaps.
	MPI_Datatype spaced;
	OK(MPI_Type_vector(N, 1, 2, MPI_INT, &spaced));
	OK(MPI_Type_commit(&spaced));
	memset(want, 255, sizeof want);
	for (int i = 0; i < N; i++)
		want[2 * i] = 1000 * world_of(0) + 2 * i;
	DO(B, b, cast, CLEAR, first || same(in, want, 2 * N), first ? out : in, 1, spaced,
	   first ? (here ? MPI_PROC_NULL : MPI_ROOT) : 0);
	OK(MPI_Type_free(&spaced));
}
