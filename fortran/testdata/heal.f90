! A ring whose replicas can be replaced: heal.f90 STEPS MICROSECONDS
program heal
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  include 'mpif-ext.h'
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer :: ierr, rank, ranks, step, steps, pause, restored, i
  character(len=20) :: argument
  double precision :: field(1000), in(1000), total
  call get_command_argument(1, argument)
  read (argument, *) steps
  call get_command_argument(2, argument)
  read (argument, *) pause
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  field = [(rank + i, i = 1, size(field))]
  step = 0
  call MPIX_State_register('step', step, 1, MPI_INTEGER, ierr)
  call MPIX_State_register('field', field, size(field), MPI_DOUBLE_PRECISION, ierr)
  do while (step < steps)
    call MPIX_Safepoint(restored, ierr)
    call MPI_Sendrecv(field, size(field), MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, &
      in, size(in), MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    field = field / 2 + in / 3 + step
    step = step + 1
    i = usleep(int(pause, c_int))
  end do
  call MPI_Reduce(sum(field), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) write (*, '(a, z16)') 'total ', transfer(total, 0_c_int64_t)
  call MPI_Finalize(ierr)
end program
