"""Every rank adds its number; all print the sum. It calls the C library by ctypes, with the constants
of the standard ABI, and needs no other module: mpiexec -n 4 python3 sum.py"""
import ctypes

mpi = ctypes.CDLL("libmpi_abi.so.1", ctypes.RTLD_GLOBAL)
WORLD, INT, SUM = 0x101, 0x209, 0x21
handle = ctypes.c_void_p

mpi.MPI_Init(None, None)
rank, total = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(handle(WORLD), ctypes.byref(rank))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), ctypes.c_int(1), handle(INT), handle(SUM), handle(WORLD))
print(f"rank {rank.value}: the sum of all ranks is {total.value}", flush=True)
mpi.MPI_Finalize()
