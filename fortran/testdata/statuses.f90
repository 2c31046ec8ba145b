! Statuses go from Fortran to C and back: statuses.c converts them, and knows those that are ignored.
module old
   use mpi
contains
   subroutine old_kinds(kinds)
      integer, intent(out) :: kinds(3)
      integer :: status(MPI_STATUS_SIZE)
      external :: f_kind
      call f_kind(MPI_STATUS_IGNORE, kinds(1))
      call f_kind(MPI_STATUSES_IGNORE, kinds(2))
      call f_kind(status, kinds(3))
   end subroutine
end module

program statuses
   use mpi_f08
   use old, only: old_kinds
   implicit none
   interface
      subroutine c_changes(status) bind(C)
         import
         type(MPI_Status) :: status
      end subroutine
      integer function f08_kind(status) bind(C)
         import
         type(MPI_Status) :: status
      end function
   end interface
   type(MPI_Status) :: status
   integer :: n, kinds(3)

   call MPI_Init()
   call MPI_Recv(n, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, status)
   call MPI_Status_set_elements(status, MPI_INTEGER, 12)
   status%MPI_SOURCE = 1
   status%MPI_TAG = 2
   status%MPI_ERROR = 3
   call c_changes(status)
   call MPI_Get_count(status, MPI_INTEGER, n)
   print '(4(i0,1x))', status%MPI_SOURCE, status%MPI_TAG, status%MPI_ERROR, n
   call old_kinds(kinds)
   print '(6(i0,1x))', f08_kind(MPI_STATUS_IGNORE), f08_kind(MPI_STATUSES_IGNORE(1)), f08_kind(status), kinds
   call MPI_Finalize()
end program
