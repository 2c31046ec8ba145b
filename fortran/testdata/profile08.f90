! A tool that counts calls of mpi_f08's procedures: one without a buffer, whose name in the linker is
! what the compiler makes of MPI_Comm_rank_f08, and one with a buffer, which has a name of C.
module counts
   implicit none
   integer :: ranks = 0, sends = 0
end module

subroutine MPI_Comm_rank_f08(comm, rank, ierror)
   use counts
   use mpi_f08, only: MPI_Comm, PMPI_Comm_rank
   type(MPI_Comm), intent(in) :: comm
   integer, intent(out) :: rank
   integer, optional, intent(out) :: ierror
   ranks = ranks + 1
   call PMPI_Comm_rank(comm, rank, ierror)
end subroutine

subroutine counted_send(buf, count, datatype, dest, tag, comm, ierror) bind(C, name="mpi_send_f08ts")
   use counts
   use mpi_f08, only: MPI_Comm, MPI_Datatype, PMPI_Send
   type(*), dimension(..), intent(in) :: buf
   integer, intent(in) :: count, dest, tag
   type(MPI_Datatype), intent(in) :: datatype
   type(MPI_Comm), intent(in) :: comm
   integer, optional, intent(out) :: ierror
   sends = sends + 1
   call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

program profiled
   use mpi_f08
   use counts
   implicit none
   integer :: rank, x(6), y(3)
   type(MPI_Request) :: request
   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   x = [1, 2, 3, 4, 5, 6]
   call MPI_Irecv(y, 3, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, request)
   call MPI_Send(x(2:6:2), 3, MPI_INTEGER, rank, 0, MPI_COMM_WORLD)
   call MPI_Wait(request, MPI_STATUS_IGNORE)
   print '(5(i0,1x))', ranks, sends, y
   call MPI_Finalize()
end program
