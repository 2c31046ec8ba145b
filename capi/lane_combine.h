// lane_combine.h: how lane_window.c combines elements: by instructions of the processor, one by one,
// or in vectors, by who is alone there. Minima and maxima of reals are Go's, which knows what
// becomes of zeros and of what isn't a number.
#ifndef BANYAN_LANE_COMBINE_H
#define BANYAN_LANE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lane_number.h"

// The operations: F(type, operation, result of a and b). Sums and products of signed integers wrap
// around, so they are computed as unsigned ones.
#define OF_REALS(F, of) F(of, SUM, a + b) F(of, PROD, a * b) F(of, REPLACE, b)
#define OF_INTEGERS(F, of, wraps)                                                                       \
	F(of, SUM, (wraps)a + (wraps)b) F(of, PROD, 1u * (wraps)a * (wraps)b) F(of, REPLACE, b)              \
	F(of, MIN, b < a ? b : a) F(of, MAX, b > a ? b : a) F(of, BAND, a & b) F(of, BOR, a | b) F(of, BXOR, a ^ b)
#define OF_NUMBERS(F)                                                                                   \
	OF_INTEGERS(F, INT8, uint8_t) OF_INTEGERS(F, UINT8, uint8_t) OF_INTEGERS(F, INT16, uint16_t)     \
	OF_INTEGERS(F, UINT16, uint16_t) OF_INTEGERS(F, INT32, uint32_t) OF_INTEGERS(F, UINT32, uint32_t) OF_INTEGERS(F, INT64, uint64_t) \
	OF_INTEGERS(F, UINT64, uint64_t) OF_REALS(F, FLOAT) OF_REALS(F, DOUBLE)

typedef int8_t type_INT8;
typedef uint8_t type_UINT8;
typedef int16_t type_INT16;
typedef uint16_t type_UINT16;
typedef int32_t type_INT32;
typedef uint32_t type_UINT32;
typedef int64_t type_INT64;
typedef uint64_t type_UINT64;
typedef float type_FLOAT;
typedef double type_DOUBLE;

enum operation { NO_OPERATION, NO_OP, SUM, PROD, REPLACE, MIN, MAX, BAND, BOR, BXOR };

static inline enum operation operation(MPI_Op op)
{
	return op == MPI_SUM ? SUM : op == MPI_REPLACE ? REPLACE : op == MPI_NO_OP ? NO_OP : op == MPI_PROD ? PROD :
	       op == MPI_MIN ? MIN : op == MPI_MAX ? MAX : op == MPI_BAND ? BAND : op == MPI_BOR ? BOR : op == MPI_BXOR ? BXOR : NO_OPERATION;
}

static inline size_t size_of(enum number n)
{
	return n == INT8 || n == UINT8 ? 1 : n == INT16 || n == UINT16 ? 2 : n == INT32 || n == UINT32 || n == FLOAT ? 4 : 8;
}

static inline bool real(enum number n) { return n == FLOAT || n == DOUBLE; }

// known says whether an operation of a type is here.
static inline bool known(enum number n, enum operation op) { return n != NO_NUMBER && op != NO_OPERATION && (op <= REPLACE || !real(n)); }

// combined is what an element becomes; both are its bits.
static inline uint64_t combined(enum number n, enum operation op, uint64_t was, uint64_t with)
{
	switch (n * 16 + op) {
#define ONE(of, op, expression)                                   \
	case of * 16 + op: {                                      \
		type_##of a, b;                                   \
		memcpy(&a, &was, sizeof a);                       \
		memcpy(&b, &with, sizeof b);                      \
		type_##of is = expression;                        \
		memcpy(&was, &is, sizeof is);                     \
		return was;                                       \
	}
		OF_NUMBERS(ONE)
#undef ONE
	}
	return was;
}

// by_instruction changes one element, and returns what it was. It lies at a multiple of its size.
#define BY_INSTRUCTION(type)                                                                          \
	static inline uint64_t change_##type(enum number n, enum operation op, type *at, type with)   \
	{                                                                                             \
		if (op == SUM && !real(n))                                                            \
			return __atomic_fetch_add(at, with, __ATOMIC_SEQ_CST);                        \
		if (op == REPLACE)                                                                    \
			return __atomic_exchange_n(at, with, __ATOMIC_SEQ_CST);                       \
		type was = __atomic_load_n(at, __ATOMIC_SEQ_CST), is;                                 \
		if (op == NO_OP)                                                                      \
			return was;                                                                   \
		do                                                                                    \
			is = (type)combined(n, op, was, with);                                        \
		while (!__atomic_compare_exchange_n(at, &was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
		return was;                                                                           \
	}
BY_INSTRUCTION(uint8_t)
BY_INSTRUCTION(uint16_t)
BY_INSTRUCTION(uint32_t)
BY_INSTRUCTION(uint64_t)

static inline uint64_t by_instruction(enum number n, enum operation op, char *at, uint64_t with)
{
	switch (size_of(n)) {
	case 1:
		return change_uint8_t(n, op, (uint8_t *)at, (uint8_t)with);
	case 2:
		return change_uint16_t(n, op, (uint16_t *)at, (uint16_t)with);
	case 4:
		return change_uint32_t(n, op, (uint32_t *)at, (uint32_t)with);
	default:
		return change_uint64_t(n, op, (uint64_t *)at, with);
	}
}

// in_vectors changes a row of elements, of which those of the origin may lie anywhere.
#define IN_VECTORS(name, target)                                                                      \
	static __attribute__((optimize("O3"))) target void name(enum number n, enum operation op, char *at, const char *from, size_t count) \
	{                                                                                             \
		switch (n * 16 + op) {                                                                \
			OF_NUMBERS(ROW)                                                               \
		}                                                                                     \
	}
#define ROW(of, op, expression)                                                     \
	case of * 16 + op: {                                                        \
		typedef type_##of __attribute__((may_alias)) there;                 \
		typedef type_##of __attribute__((may_alias, aligned(1))) here;      \
		there *l = (there *)at;                                             \
		const here *r = (const here *)from;                                 \
		for (size_t i = 0; i < count; i++) {                                \
			type_##of a = l[i], b = r[i];                               \
			(void)a;                                                    \
			l[i] = expression;                                          \
		}                                                                   \
		return;                                                             \
	}
IN_VECTORS(in_vectors_plain, )
#if defined(__x86_64__)
IN_VECTORS(in_vectors_wide, __attribute__((target("avx2"))))
#endif
#undef ROW

static void in_vectors(enum number n, enum operation op, char *at, const char *from, size_t count)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		in_vectors_wide(n, op, at, from, count);
		return;
	}
#endif
	in_vectors_plain(n, op, at, from, count);
}

#endif
