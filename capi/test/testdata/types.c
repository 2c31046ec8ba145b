// types checks the datatypes against the compiler: sizes, extents and layouts are C's, and data
// packed with a type has the values of the fields in C.
#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "check.h"

static void predefined(void)
{
#define IS(handle, type)                                                     \
	do {                                                                 \
		int size;                                                    \
		MPI_Aint lb, extent;                                         \
		OK(MPI_Type_size(handle, &size));                            \
		OK(MPI_Type_get_extent(handle, &lb, &extent));               \
		CHECK(size == sizeof(type) && lb == 0 && extent == size);    \
	} while (0)
	IS(MPI_CHAR, char);
	IS(MPI_SIGNED_CHAR, signed char);
	IS(MPI_UNSIGNED_CHAR, unsigned char);
	IS(MPI_SHORT, short);
	IS(MPI_UNSIGNED_SHORT, unsigned short);
	IS(MPI_INT, int);
	IS(MPI_UNSIGNED, unsigned);
	IS(MPI_LONG, long);
	IS(MPI_UNSIGNED_LONG, unsigned long);
	IS(MPI_LONG_LONG, long long);
	IS(MPI_UNSIGNED_LONG_LONG, unsigned long long);
	IS(MPI_FLOAT, float);
	IS(MPI_DOUBLE, double);
	IS(MPI_LONG_DOUBLE, long double);
	IS(MPI_C_FLOAT_COMPLEX, float complex);
	IS(MPI_C_DOUBLE_COMPLEX, double complex);
	IS(MPI_C_LONG_DOUBLE_COMPLEX, long double complex);
	IS(MPI_C_BOOL, bool);
	IS(MPI_WCHAR, wchar_t);
	IS(MPI_INT8_T, int8_t);
	IS(MPI_UINT16_T, uint16_t);
	IS(MPI_INT32_T, int32_t);
	IS(MPI_UINT64_T, uint64_t);
	IS(MPI_AINT, MPI_Aint);
	IS(MPI_COUNT, MPI_Count);
	IS(MPI_OFFSET, MPI_Offset);
	struct two { int a, b; };
	IS(MPI_2INT, struct two);

#define PAIR(handle, type)                                                                    \
	do {                                                                                  \
		struct pair { type value; int index; };                                       \
		int size;                                                                     \
		MPI_Aint lb, extent, true_lb, true_extent;                                    \
		OK(MPI_Type_size(handle, &size));                                             \
		OK(MPI_Type_get_extent(handle, &lb, &extent));                                \
		OK(MPI_Type_get_true_extent(handle, &true_lb, &true_extent));                 \
		CHECK(size == sizeof(type) + sizeof(int));                                    \
		CHECK(lb == 0 && extent == sizeof(struct pair));                              \
		CHECK(true_lb == 0 && true_extent == offsetof(struct pair, index) + sizeof(int)); \
	} while (0)
	PAIR(MPI_FLOAT_INT, float);
	PAIR(MPI_DOUBLE_INT, double);
	PAIR(MPI_LONG_INT, long);
	PAIR(MPI_SHORT_INT, short);
	PAIR(MPI_LONG_DOUBLE_INT, long double);
}

struct particle {
	char kind;
	double position[3];
	short charge;
	long double mass;
	float complex spin;
	char name[5];
};

static void structs(void)
{
	int lengths[] = {1, 3, 1, 1, 1, 5};
	MPI_Aint at[] = {offsetof(struct particle, kind), offsetof(struct particle, position), offsetof(struct particle, charge),
		offsetof(struct particle, mass), offsetof(struct particle, spin), offsetof(struct particle, name)};
	MPI_Datatype fields[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_CHAR};
	MPI_Datatype type;
	MPI_Aint lb, extent;
	int size, position = 0;
	struct particle in[2] = {{'a', {1, 2, 3}, 4, 5.5L, 6 + 7 * I, "abcd"}, {'b', {-1, -2, -3}, -4, -5.5L, -6, "efgh"}}, out[2];
	char packed[256];

	OK(MPI_Type_create_struct(6, lengths, at, fields, &type));
	OK(MPI_Type_commit(&type));
	OK(MPI_Type_get_extent(type, &lb, &extent));
	CHECK(lb == 0 && extent == sizeof(struct particle));
	OK(MPI_Pack_size(2, type, MPI_COMM_WORLD, &size));
	CHECK(size == 2 * (1 + 24 + 2 + 16 + 8 + 5));
	OK(MPI_Pack(in, 2, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
	CHECK(position == size);
	memset(out, 0x55, sizeof out);
	position = 0;
	OK(MPI_Unpack(packed, size, &position, out, 2, type, MPI_COMM_WORLD));
	CHECK(position == size);
	for (int i = 0; i < 2; i++) {
		CHECK(in[i].kind == out[i].kind && memcmp(in[i].position, out[i].position, sizeof in[i].position) == 0);
		CHECK(in[i].charge == out[i].charge && in[i].mass == out[i].mass && in[i].spin == out[i].spin);
		CHECK(strcmp(in[i].name, out[i].name) == 0);
		CHECK(((unsigned char *)&out[i])[offsetof(struct particle, kind) + 1] == 0x55); // padding stays
	}

	MPI_Aint external;
	MPI_Aint where = 0;
	OK(MPI_Pack_external_size("external32", 2, type, &external));
	CHECK(external == size && external <= (MPI_Aint)sizeof packed);
	OK(MPI_Pack_external("external32", in, 2, type, packed, sizeof packed, &where));
	CHECK(where == external && packed[0] == 'a' && packed[1] == 0x3f && (unsigned char)packed[2] == 0xf0);
	memset(out, 0, sizeof out);
	where = 0;
	OK(MPI_Unpack_external("external32", packed, sizeof packed, &where, out, 2, type));
	CHECK(where == external && out[1].mass == -5.5L && out[0].spin == 6 + 7 * I && out[1].position[2] == -3);
	OK(MPI_Type_free(&type));
	CHECK(type == MPI_DATATYPE_NULL);
}

// absolute packs from MPI_BOTTOM: the displacements are addresses.
static void absolute(void)
{
	int a = 1, b[3] = {2, 3, 4}, lengths[] = {1, 3}, position = 0, packed[4];
	MPI_Aint at[2];
	MPI_Datatype type, ints[] = {MPI_INT, MPI_INT};
	OK(MPI_Get_address(&a, &at[0]));
	OK(MPI_Get_address(b, &at[1]));
	OK(MPI_Type_create_struct(2, lengths, at, ints, &type));
	OK(MPI_Type_commit(&type));
	OK(MPI_Pack(MPI_BOTTOM, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
	CHECK(position == 16 && packed[0] == 1 && packed[1] == 2 && packed[3] == 4);
	OK(MPI_Type_free(&type));
}

// transposed describes a matrix by columns, in three ways.
static void transposed(void)
{
	enum { N = 7 };
	double m[N][N], t[N][N];
	MPI_Datatype column, columns[3];
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			m[i][k] = 10 * i + k;
	OK(MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column));
	OK(MPI_Type_create_hvector(N, 1, sizeof(double), column, &columns[0]));
	MPI_Datatype narrow;
	OK(MPI_Type_create_resized(column, 0, sizeof(double), &narrow));
	OK(MPI_Type_contiguous(N, narrow, &columns[1]));
	MPI_Aint at[N];
	int sizes[] = {N, N}, subsizes[] = {N, 1}, starts[] = {0, 0};
	MPI_Datatype one;
	OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &one));
	for (int k = 0; k < N; k++)
		at[k] = k * sizeof(double);
	OK(MPI_Type_create_hindexed_block(N, 1, at, one, &columns[2]));
	for (int i = 0; i < 3; i++) {
		int position = 0;
		OK(MPI_Type_commit(&columns[i]));
		memset(t, 0, sizeof t);
		OK(MPI_Pack(m, 1, columns[i], t, sizeof t, &position, MPI_COMM_WORLD));
		for (int r = 0; r < N; r++)
			for (int k = 0; k < N; k++)
				CHECK(t[r][k] == m[k][r]);
		OK(MPI_Type_free(&columns[i]));
	}
	OK(MPI_Type_free(&column));
	OK(MPI_Type_free(&narrow));
	OK(MPI_Type_free(&one));
}

// limits are those of sizes, bounds and places: 2^62 bytes. Counts of statuses have none.
static void limits(void)
{
	const MPI_Count most = (MPI_Count)1 << 62, all = INT64_MAX;
	MPI_Datatype nothing, large;
	MPI_Status status;
	MPI_Count n;
	int class;
	OK(MPI_Type_contiguous_c(most, MPI_BYTE, &large));
	OK(MPI_Type_size_c(large, &n));
	CHECK(n == most);
	OK(MPI_Type_free(&large));
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Error_class(MPI_Type_contiguous_c(most + 1, MPI_BYTE, &large), &class);
	CHECK(class == MPI_ERR_VALUE_TOO_LARGE);
	MPI_Error_class(MPI_Type_create_resized_c(MPI_INT, 0, most + 1, &large), &class);
	CHECK(class == MPI_ERR_VALUE_TOO_LARGE);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
	OK(MPI_Type_contiguous_c(all, nothing, &large)); // however many, they are nothing
	OK(MPI_Type_size_c(large, &n));
	CHECK(n == 0);
	OK(MPI_Type_free(&large));
	OK(MPI_Type_free(&nothing));
	OK(MPI_Status_set_elements_c(&status, MPI_BYTE, all));
	OK(MPI_Get_elements_c(&status, MPI_BYTE, &n));
	CHECK(n == all);
	OK(MPI_Get_count_c(&status, MPI_BYTE, &n));
	CHECK(n == all);
}

static void contents(void)
{
	MPI_Datatype type, wide, inner[1];
	int ni, na, nd, combiner, ints[3], length;
	MPI_Count cni, cna, cnc, cnd, counts[3];
	char name[MPI_MAX_OBJECT_NAME];
	OK(MPI_Type_vector(3, 2, -5, MPI_SHORT, &type));
	OK(MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner));
	CHECK(ni == 3 && na == 0 && nd == 1 && combiner == MPI_COMBINER_VECTOR);
	OK(MPI_Type_get_contents(type, 3, 0, 1, ints, NULL, inner));
	CHECK(ints[0] == 3 && ints[1] == 2 && ints[2] == -5 && inner[0] == MPI_SHORT);
	OK(MPI_Type_vector_c(3, 2, (MPI_Count)1 << 33, MPI_SHORT, &wide));
	OK(MPI_Type_get_envelope_c(wide, &cni, &cna, &cnc, &cnd, &combiner));
	CHECK(cni == 0 && cna == 0 && cnc == 3 && cnd == 1 && combiner == MPI_COMBINER_VECTOR);
	OK(MPI_Type_get_contents_c(wide, 0, 0, 3, 1, NULL, NULL, counts, inner));
	CHECK(counts[2] == (MPI_Count)1 << 33);
	MPI_Count lb, extent, size;
	OK(MPI_Type_get_extent_x(wide, &lb, &extent));
	CHECK(lb == 0 && extent == ((MPI_Count)1 << 35) + 4);
	OK(MPI_Type_size_x(wide, &size));
	CHECK(size == 12);
	OK(MPI_Type_set_name(wide, "wide"));
	OK(MPI_Type_get_name(wide, name, &length));
	CHECK(strcmp(name, "wide") == 0 && length == 4);
	limits();
	OK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length));
	CHECK(!strcmp(name, "MPI_C_COMPLEX")); /* of which the other is a synonym */
	OK(MPI_Type_get_name(MPI_LONG_LONG, name, &length));
	CHECK(!strcmp(name, "MPI_LONG_LONG_INT"));
	OK(MPI_Type_get_name(MPI_C_BOOL, name, &length));
	CHECK(strcmp(name, "MPI_C_BOOL") == 0);
	CHECK(MPI_Type_fromint(MPI_Type_toint(wide)) == wide);
	OK(MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_INT, &inner[0]));
	OK(MPI_Type_size(inner[0], &ni));
	CHECK(ni == MPI_UNDEFINED);
	OK(MPI_Type_free(&inner[0]));
	OK(MPI_Type_free(&wide));
	OK(MPI_Type_free(&type));
}

// counts counts elements of predefined types, which the C code does itself, and of others, which Go
// code does.
static void counts(void)
{
	MPI_Status status;
	MPI_Datatype triple;
	MPI_Count large;
	int n;
#define COUNT(type, want)                                                    \
	do {                                                                 \
		OK(MPI_Get_count(&status, type, &n));                        \
		OK(MPI_Get_count_c(&status, type, &large));                  \
		CHECK(n == (want) && large == (want));                       \
	} while (0)
	OK(MPI_Type_contiguous(3, MPI_INT, &triple));
	OK(MPI_Status_set_elements(&status, MPI_INT, 6));
	COUNT(MPI_CHAR, 24);
	COUNT(MPI_INT, 6);
	COUNT(MPI_DOUBLE_INT, 2);
	COUNT(MPI_LONG_DOUBLE, MPI_UNDEFINED);
	COUNT(triple, 2);
	OK(MPI_Get_elements(&status, triple, &n));
	CHECK(n == 6);
	OK(MPI_Status_set_elements_c(&status, MPI_BYTE, (MPI_Count)1 << 34));
	OK(MPI_Get_count(&status, MPI_INT, &n));
	CHECK(n == MPI_UNDEFINED);
	OK(MPI_Get_count_c(&status, MPI_INT, &large));
	CHECK(large == (MPI_Count)1 << 32);
	OK(MPI_Type_free(&triple));
}

// errors checks that mistakes return errors. (When errors are fatal, the test reads their messages
// from the standard error.)
static void errors(void)
{
	MPI_Datatype type = MPI_DATATYPE_NULL;
	MPI_Status status = {0};
	int x, position = 0;
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	CHECK(MPI_Type_commit(&type) == MPI_ERR_TYPE);
	CHECK(MPI_Type_contiguous(-1, MPI_INT, &type) == MPI_ERR_COUNT);
	CHECK(MPI_Type_size((MPI_Datatype)MPI_COMM_WORLD, &x) == MPI_ERR_TYPE);
	CHECK(MPI_Type_size((MPI_Datatype)0x242, &x) == MPI_ERR_TYPE);
	CHECK(MPI_Type_size(MPI_DATATYPE_NULL, &x) == MPI_ERR_TYPE);
	CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &x) == MPI_ERR_ARG);
	CHECK(MPI_Get_count(&status, MPI_DATATYPE_NULL, &x) == MPI_ERR_TYPE);
	CHECK(MPI_Pack(MPI_IN_PLACE, 1, MPI_INT, &x, 4, &position, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
	CHECK(MPI_Pack(NULL, 1, MPI_INT, &x, 4, &position, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	predefined();
	structs();
	absolute();
	transposed();
	contents();
	counts();
	errors();
	if (argc > 2) { // too late
		int size;
		MPI_Finalize();
		MPI_Type_size(MPI_INT, &size);
	}
	if (argc > 1) { // makes a mistake
		MPI_Datatype type;
		MPI_Type_vector(3, -2, 5, MPI_INT, &type);
	}
	return END;
}
