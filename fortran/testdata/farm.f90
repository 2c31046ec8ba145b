! Rank 0 answers the first rank that asks. Its replicas see the ranks ask in different orders.
program farm
  use mpi
  implicit none
  integer :: rank, size, ierr, i, from, status(MPI_STATUS_SIZE)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  do i = 1, 20
    if (rank == 0) then
      call MPI_Recv(from, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status, ierr)
      call MPI_Send(i, 1, MPI_INTEGER, status(MPI_SOURCE), 2, MPI_COMM_WORLD, ierr)
    else if (mod(i, size - 1) == rank - 1) then
      call MPI_Send(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierr)
      call MPI_Recv(from, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, status, ierr)
    end if
  end do
  call MPI_Finalize(ierr)
end program
