// lane_number.h: the predefined types that C computes with.
#ifndef BANYAN_LANE_NUMBER_H
#define BANYAN_LANE_NUMBER_H

#include "../abi/mpi.h"

enum number { NO_NUMBER, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT, DOUBLE };

static inline enum number number(MPI_Datatype datatype)
{
	if (datatype == MPI_DOUBLE || datatype == MPI_DOUBLE_PRECISION)
		return DOUBLE;
	if (datatype == MPI_INT || datatype == MPI_INT32_T || datatype == MPI_INTEGER)
		return INT32;
	if (datatype == MPI_LONG || datatype == MPI_LONG_LONG || datatype == MPI_INT64_T || datatype == MPI_AINT || datatype == MPI_OFFSET || datatype == MPI_COUNT)
		return INT64;
	if (datatype == MPI_FLOAT || datatype == MPI_REAL)
		return FLOAT;
	if (datatype == MPI_UNSIGNED_LONG || datatype == MPI_UNSIGNED_LONG_LONG || datatype == MPI_UINT64_T)
		return UINT64;
	if (datatype == MPI_UNSIGNED || datatype == MPI_UINT32_T)
		return UINT32;
	if (datatype == MPI_CHAR || datatype == MPI_SIGNED_CHAR || datatype == MPI_INT8_T)
		return INT8;
	if (datatype == MPI_UNSIGNED_CHAR || datatype == MPI_UINT8_T)
		return UINT8;
	if (datatype == MPI_SHORT || datatype == MPI_INT16_T)
		return INT16;
	if (datatype == MPI_UNSIGNED_SHORT || datatype == MPI_UINT16_T)
		return UINT16;
	return NO_NUMBER;
}

#endif
