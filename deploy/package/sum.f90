! Every rank adds its number; all print the sum. mpifort -o sum sum.f90 && mpiexec -n 4 ./sum
program sum_of_ranks
   use mpi
   implicit none
   integer :: rank, total, ierr
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
   print '(a, i0, a, i0)', 'rank ', rank, ': the sum of all ranks is ', total
   call MPI_Finalize(ierr)
end program sum_of_ranks
