// ops checks the predefined operations against the compiler's arithmetic. It also checks operations
// that the program defines.
#include <complex.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"

enum { N = 40 };

#define LOOP(type, handle, op, x, y, expression)                                  \
	do {                                                                      \
		type a[N], b[N], want[N];                                         \
		for (int i = 0; i < N; i++) {                                     \
			type l = a[i] = (x), r = b[i] = (y);                      \
			want[i] = (expression);                                   \
			(void)l, (void)r;                                         \
		}                                                                 \
		OK(MPI_Reduce_local(a, b, N, handle, op));                        \
		for (int i = 0; i < N; i++)                                       \
			CHECK(b[i] == want[i]);                                   \
	} while (0)

#define ARITHMETIC(type, handle)                                                  \
	LOOP(type, handle, MPI_SUM, i - 7, 3 * i, l + r);                         \
	LOOP(type, handle, MPI_PROD, i % 5 - 2, i % 7 + 1, l *r)

#define ORDERED(type, handle)                                                     \
	ARITHMETIC(type, handle);                                                 \
	LOOP(type, handle, MPI_MIN, i - 7, 20 - i, l < r ? l : r);                \
	LOOP(type, handle, MPI_MAX, i - 7, 20 - i, l > r ? l : r)

#define LOGICAL(type, handle)                                                     \
	LOOP(type, handle, MPI_LAND, i % 2 ? 2 : 0, i % 3, l &&r);                    \
	LOOP(type, handle, MPI_LOR, i % 2 ? 2 : 0, i % 3, l || r);                    \
	LOOP(type, handle, MPI_LXOR, i % 2 ? 2 : 0, i % 3, !l != !r)

#define INTEGER(type, handle)                                                     \
	ORDERED(type, handle);                                                    \
	LOGICAL(type, handle);                                                    \
	LOOP(type, handle, MPI_BAND, i * 37, i * 11, l &r);                       \
	LOOP(type, handle, MPI_BOR, i * 37, i * 11, l | r);                       \
	LOOP(type, handle, MPI_BXOR, i * 37, i * 11, l ^ r)

#define LOCATED(type, handle)                                                     \
	do {                                                                      \
		struct { type value; int index; } a[N], b[N], c[N];               \
		for (int i = 0; i < N; i++) {                                     \
			a[i].value = i % 5, a[i].index = i;                       \
			b[i].value = c[i].value = i % 3, b[i].index = c[i].index = N - i; \
		}                                                                 \
		OK(MPI_Reduce_local(a, b, N, handle, MPI_MINLOC));                \
		OK(MPI_Reduce_local(a, c, N, handle, MPI_MAXLOC));                \
		for (int i = 0; i < N; i++) {                                     \
			type l = i % 5, r = i % 3;                                \
			int same = i < N - i ? i : N - i;                         \
			CHECK(b[i].value == (l < r ? l : r) && b[i].index == (l == r ? same : l < r ? i : N - i)); \
			CHECK(c[i].value == (l > r ? l : r) && c[i].index == (l == r ? same : l > r ? i : N - i)); \
		}                                                                 \
	} while (0)

static void predefined(void)
{
	INTEGER(signed char, MPI_SIGNED_CHAR);
	INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
	INTEGER(short, MPI_SHORT);
	INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
	INTEGER(int, MPI_INT);
	INTEGER(unsigned, MPI_UNSIGNED);
	INTEGER(long, MPI_LONG);
	INTEGER(unsigned long, MPI_UNSIGNED_LONG);
	INTEGER(long long, MPI_LONG_LONG);
	INTEGER(int8_t, MPI_INT8_T);
	INTEGER(uint16_t, MPI_UINT16_T);
	INTEGER(int32_t, MPI_INT32_T);
	INTEGER(uint64_t, MPI_UINT64_T);
	INTEGER(MPI_Aint, MPI_AINT);
	INTEGER(MPI_Count, MPI_COUNT);
	INTEGER(int, MPI_INTEGER);
	ORDERED(float, MPI_FLOAT);
	ORDERED(double, MPI_DOUBLE);
	ORDERED(long double, MPI_LONG_DOUBLE);
	ORDERED(double, MPI_DOUBLE_PRECISION);
	LOOP(long double, MPI_LONG_DOUBLE, MPI_SUM, 1.0L / (i + 3), 1e-15L * i, l + r);
	LOOP(long double, MPI_LONG_DOUBLE, MPI_PROD, 1.0L / (i + 3), 1.1L * i, l *r);
	ARITHMETIC(float complex, MPI_C_FLOAT_COMPLEX);
	ARITHMETIC(double complex, MPI_C_DOUBLE_COMPLEX);
	ARITHMETIC(long double complex, MPI_C_LONG_DOUBLE_COMPLEX);
	LOOP(double complex, MPI_C_DOUBLE_COMPLEX, MPI_PROD, i + 2 * I, i % 3 - i * I, l *r);
	LOOP(long double complex, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD, 1.0L / (i + 1) + 2 * I, i % 3 - i * I, l *r);
	LOGICAL(bool, MPI_C_BOOL);
	LOGICAL(int, MPI_LOGICAL);
	LOOP(unsigned char, MPI_BYTE, MPI_BXOR, i * 37, i * 11, l ^ r);
	LOCATED(float, MPI_FLOAT_INT);
	LOCATED(double, MPI_DOUBLE_INT);
	LOCATED(long, MPI_LONG_INT);
	LOCATED(int, MPI_2INT);
	LOCATED(short, MPI_SHORT_INT);
	LOCATED(long double, MPI_LONG_DOUBLE_INT);
}

struct sample {
	double mean;
	short n; // and padding
};

static MPI_Datatype sample_type;

// merge joins two samples. It assigns whole structs.
static void merge(void *in, void *inout, int *len, MPI_Datatype *type)
{
	struct sample *l = in, *r = inout;
	CHECK(*type == sample_type);
	for (int i = 0; i < *len; i++) {
		struct sample s = {(l[i].mean * l[i].n + r[i].mean * r[i].n) / (l[i].n + r[i].n), l[i].n + r[i].n};
		r[i] = s;
	}
}

static void subtract(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
	int *l = in, *r = inout;
	CHECK(*type == MPI_INT);
	for (MPI_Count i = 0; i < *len; i++)
		r[i] = l[i] - r[i];
}

static void own(void)
{
	int lengths[] = {1, 1}, commute;
	MPI_Aint at[] = {0, 8};
	MPI_Datatype fields[] = {MPI_DOUBLE, MPI_SHORT};
	MPI_Op op;
	struct sample a[2] = {{1, 1}, {4, 2}}, b[2] = {{3, 1}, {1, 1}};
	OK(MPI_Type_create_struct(2, lengths, at, fields, &sample_type));
	OK(MPI_Type_commit(&sample_type));
	OK(MPI_Op_create(merge, 1, &op));
	OK(MPI_Op_commutative(op, &commute));
	CHECK(commute == 1);
	CHECK(MPI_Op_fromint(MPI_Op_toint(op)) == op);
	OK(MPI_Reduce_local(a, b, 2, sample_type, op));
	CHECK(b[0].mean == 2 && b[0].n == 2 && b[1].mean == 3 && b[1].n == 3);
	OK(MPI_Op_free(&op));
	CHECK(op == MPI_OP_NULL);

	int x[] = {10, 20}, y[] = {1, 2};
	OK(MPI_Op_create_c(subtract, 0, &op));
	OK(MPI_Op_commutative(op, &commute));
	CHECK(commute == 0);
	OK(MPI_Reduce_local(x, y, 2, MPI_INT, op));
	CHECK(y[0] == 9 && y[1] == 18);
	OK(MPI_Op_free(&op));
	OK(MPI_Type_free(&sample_type));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	predefined();
	own();
	if (argc > 1) { // makes a mistake
		float x = 1, y = 2;
		MPI_Reduce_local(&x, &y, 1, MPI_FLOAT, MPI_BAND);
	}
	return END;
}
