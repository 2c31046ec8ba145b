! A program with safe points that any MPI can compile.
program safepoint
  implicit none
  include 'mpif.h'
  include 'mpif-ext.h'
  integer :: ierr, step, restored, before
  double precision :: plate(4, 4)
  call MPI_Init(ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  plate = 1
  step = 0
  call MPIX_State_register('step ', step, 1, MPI_INTEGER, ierr)
  if (ierr /= MPI_SUCCESS) stop 2
  call MPIX_State_register('plate', plate, size(plate), MPI_DOUBLE_PRECISION, ierr)
  if (ierr /= MPI_SUCCESS) stop 3
  call MPIX_Expect_safepoints(5, ierr)
  if (ierr /= MPI_SUCCESS) stop 6
  do while (step < 5)
    restored = 7
    call MPIX_Safepoint(restored, ierr)
    if (ierr /= MPI_SUCCESS .or. restored /= 0) stop 4
    plate = plate + 1
    step = step + 1
  end do
  call MPIX_State_register('plate', plate, size(plate), MPI_DOUBLE_PRECISION, before)
  call MPIX_State_unregister('plate', ierr)
  if (ierr /= MPI_SUCCESS) stop 5
  write (*, '(a, f4.1, l2)') 'plate', plate(4, 4), before == MPI_SUCCESS
  call MPI_Finalize(ierr)
end program
