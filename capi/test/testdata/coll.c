// coll checks the collectives in all three manners (blocking, nonblocking, persistent), among any
// number of ranks.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int n, me;

// value is element i of rank r's contribution.
static int value(int r, int i) { return 1000 * r + i; }

static int *given(int r, int first, int count)
{
	int *v = malloc(sizeof(int) * (count + 1));
	for (int i = 0; i < count; i++)
		v[i] = value(r, first + i);
	return v;
}

static void moves(int m)
{
	int *mine = given(me, 0, m), *all = malloc(sizeof(int) * n * (m + 1)), *part = malloc(sizeof(int) * (m + 1));
	for (int root = 0; root < n; root++) {
		memcpy(part, mine, sizeof(int) * m);
		OK(MPI_Bcast(part, m, MPI_INT, root, MPI_COMM_WORLD));
		for (int i = 0; i < m; i++)
			CHECK(part[i] == value(root, i));
		OK(MPI_Gather(mine, m, MPI_INT, all, m, MPI_INT, root, MPI_COMM_WORLD));
		if (me == root)
			for (int i = 0; i < n * m; i++)
				CHECK(all[i] == value(i / m, i % m));
		memset(part, 0, sizeof(int) * m);
		OK(MPI_Scatter(all, m, MPI_INT, me == root ? MPI_IN_PLACE : part, m, MPI_INT, root, MPI_COMM_WORLD));
		if (me != root)
			for (int i = 0; i < m; i++)
				CHECK(part[i] == value(me, i));
	}
	memset(all, 0, sizeof(int) * n * m);
	OK(MPI_Allgather(mine, m, MPI_INT, all, m, MPI_INT, MPI_COMM_WORLD));
	for (int i = 0; i < n * m; i++)
		CHECK(all[i] == value(i / m, i % m));
	int *out = given(me, 0, n * m);
	OK(MPI_Alltoall(out, m, MPI_INT, all, m, MPI_INT, MPI_COMM_WORLD));
	for (int i = 0; i < n * m; i++)
		CHECK(all[i] == value(i / m, me * m + i % m));
	OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, m, MPI_INT, MPI_COMM_WORLD));
	CHECK(memcmp(out, all, sizeof(int) * n * m) == 0);
	free(out), free(mine), free(all), free(part);
}

// Rank r sends r + 1 columns of a matrix of n rows to all ranks, which receive them as rows.
static void columns(void)
{
	MPI_Datatype column, row;
	int *matrix = malloc(sizeof(int) * n * (me + 1)), *counts = malloc(sizeof(int) * n), *displs = malloc(sizeof(int) * n), total = 0;
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= me; j++)
			matrix[i * (me + 1) + j] = value(me, 10 * i + j);
	OK(MPI_Type_vector(n, 1, me + 1, MPI_INT, &row));
	OK(MPI_Type_create_resized(row, 0, sizeof(int), &column));
	OK(MPI_Type_commit(&column));
	OK(MPI_Type_free(&row));
	for (int r = 0; r < n; r++)
		counts[r] = (r + 1) * n, displs[r] = total, total += counts[r];
	int *all = malloc(sizeof(int) * total);
	OK(MPI_Allgatherv(matrix, me + 1, column, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
	for (int r = 0; r < n; r++)
		for (int j = 0; j <= r; j++)
			for (int i = 0; i < n; i++)
				CHECK(all[displs[r] + j * n + i] == value(r, 10 * i + j));
	OK(MPI_Type_free(&column));
	free(matrix), free(counts), free(displs), free(all);
}

struct matrix {
	long a, b, c, d;
};

// multiply is associative and doesn't commute, so the result depends on the order of the ranks.
static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
	(void)type;
	struct matrix *l = in, *r = inout;
	for (int i = 0; i < *len; i++) {
		struct matrix x = l[i], y = r[i], z = {
			(x.a * y.a + x.b * y.c) % 9973, (x.a * y.b + x.b * y.d) % 9973,
			(x.c * y.a + x.d * y.c) % 9973, (x.c * y.b + x.d * y.d) % 9973};
		r[i] = z;
	}
}

static struct matrix factor(int r, int i)
{
	struct matrix x = {r + 1, i + 2, r * i + 1, 3};
	return x;
}

static struct matrix product(int from, int to, int i)
{
	struct matrix all = factor(from, i), x;
	for (int r = from + 1; r < to; r++) {
		int one = 1;
		x = factor(r, i);
		multiply(&all, &x, &one, NULL);
		all = x;
	}
	return all;
}

static int same(struct matrix x, struct matrix y) { return memcmp(&x, &y, sizeof x) == 0; }

static void reductions(int m)
{
	MPI_Datatype type;
	MPI_Op op;
	struct matrix *x = malloc(sizeof *x * (m + 1) * n), *y = malloc(sizeof *y * (m + 1) * n);
	OK(MPI_Type_contiguous(4, MPI_LONG, &type));
	OK(MPI_Type_commit(&type));
	OK(MPI_Op_create(multiply, 0, &op));
	for (int i = 0; i < m * n; i++)
		x[i] = factor(me, i);
	OK(MPI_Allreduce(x, y, m, type, op, MPI_COMM_WORLD));
	for (int i = 0; i < m; i++)
		CHECK(same(y[i], product(0, n, i)));
	for (int root = 0; root < n; root++) {
		memcpy(y, x, sizeof *y * m);
		OK(MPI_Reduce(me == root ? MPI_IN_PLACE : y, y, m, type, op, root, MPI_COMM_WORLD));
		for (int i = 0; i < m && me == root; i++)
			CHECK(same(y[i], product(0, n, i)));
	}
	OK(MPI_Scan(x, y, m, type, op, MPI_COMM_WORLD));
	for (int i = 0; i < m; i++)
		CHECK(same(y[i], product(0, me + 1, i)));
	OK(MPI_Exscan(x, y, m, type, op, MPI_COMM_WORLD));
	for (int i = 0; i < m && me > 0; i++)
		CHECK(same(y[i], product(0, me, i)));
	OK(MPI_Reduce_scatter_block(x, y, m, type, op, MPI_COMM_WORLD));
	for (int i = 0; i < m; i++)
		CHECK(same(y[i], product(0, n, me * m + i)));
	OK(MPI_Op_free(&op));
	OK(MPI_Type_free(&type));

	double one = me + 0.5, sum = 0;
	OK(MPI_Allreduce_c(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == n * (n - 1) / 2 + 0.5 * n);
	free(x), free(y);
}

// Many collectives run at a time. Some are started in one order and awaited in another. Messages
// and a blocking collective are between them.
static void background(int m)
{
	enum { K = 12 };
	MPI_Request r[K + 2];
	int *in[K], *out[K], from = (me + n - 1) % n, token = me, got = -1, sum;
	for (int k = 0; k < K; k++) {
		in[k] = given(me, k, m), out[k] = malloc(sizeof(int) * (m + 1));
		if (k % 3 == 0)
			OK(MPI_Iallreduce(in[k], out[k], m, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r[k]));
		else if (k % 3 == 1)
			OK(MPI_Ibcast(in[k], m, MPI_INT, k % n, MPI_COMM_WORLD, &r[k]));
		else
			OK(MPI_Iscan(in[k], out[k], m, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[k]));
	}
	OK(MPI_Irecv(&got, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &r[K]));
	OK(MPI_Isend(&token, 1, MPI_INT, (me + 1) % n, 7, MPI_COMM_WORLD, &r[K + 1]));
	OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == n * (n - 1) / 2);
	int left = K + 2;
	while (left > 0) {
		int index;
		OK(MPI_Waitany(K + 2, r, &index, MPI_STATUS_IGNORE));
		CHECK(index != MPI_UNDEFINED);
		left--;
	}
	CHECK(got == from);
	for (int k = 0; k < K; k++) {
		for (int i = 0; i < m; i++) {
			if (k % 3 == 0)
				CHECK(out[k][i] == value(n - 1, k + i));
			else if (k % 3 == 1)
				CHECK(in[k][i] == value(k % n, k + i));
			else
				CHECK(out[k][i] == 1000 * (me * (me + 1) / 2) + (me + 1) * (k + i));
		}
		free(in[k]), free(out[k]);
	}
}

static void persistent(void)
{
	MPI_Request r[2];
	int x = 0, most, all[64], flag = 0;
	OK(MPI_Allreduce_init(&x, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
	OK(MPI_Allgather_init(&x, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
	for (int round = 0; round < 5; round++) {
		x = me + round;
		OK(MPI_Startall(2, r));
		if (round == 0)
			while (!flag)
				OK(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
		else
			OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
		CHECK(most == n - 1 + round);
		for (int i = 0; i < n; i++)
			CHECK(all[i] == i + round);
	}
	OK(MPI_Request_free(&r[0]));
	OK(MPI_Request_free(&r[1]));
}

static void halo(void)
{
	MPI_Comm ring;
	int dims = n, periods = 1, out[2], in[2];
	OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &ring));
	int up = (me + 1) % n, down = (me + n - 1) % n;
	out[0] = 10 * me, out[1] = 10 * me + 1; // down, up
	OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring));
	CHECK(in[0] == 10 * down + 1 && in[1] == 10 * up);
	OK(MPI_Comm_free(&ring));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	int sizes[] = {1, 3, 100, 5000, 60000};
	for (int i = 0; i < 5; i++) {
		OK(MPI_Barrier(MPI_COMM_WORLD));
		moves(sizes[i]);
		background(sizes[i]);
		if (sizes[i] <= 5000)
			reductions(sizes[i]);
	}
	columns();
	persistent();
	halo();
	if (argc > 1 && strcmp(argv[1], "mistake") == 0)
		MPI_Bcast(&n, 1, MPI_INT, n, MPI_COMM_WORLD);
	return END;
}
