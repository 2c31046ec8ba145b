! files tests MPI's files in Fortran, and a data representation of the program's.
program files
   use mpi
   implicit none
   integer :: rank, size, ierr, fh, n, status(MPI_STATUS_SIZE), i, class, request
   integer :: mine(10), back(10)
   integer(MPI_OFFSET_KIND) :: at, bytes
   integer(MPI_ADDRESS_KIND) :: state
   character(len=256) :: dir
   character(len=MPI_MAX_DATAREP_STRING) :: form
   external :: swap, width
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
   call get_command_argument(1, dir)
   call MPI_File_open(MPI_COMM_WORLD, trim(dir)//'/fortran', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, fh, ierr)
   if (ierr /= MPI_SUCCESS) stop 1
   mine = [(100*rank + i, i = 1, 10)]
   at = 40*rank
   call MPI_File_write_at_all(fh, at, mine, 10, MPI_INTEGER, status, ierr)
   if (ierr /= MPI_SUCCESS) stop 2
   call MPI_File_sync(fh, ierr)
   call MPI_Barrier(MPI_COMM_WORLD, ierr)
   at = 40*mod(rank + 1, size)
   call MPI_File_iread_at(fh, at, back, 10, MPI_INTEGER, request, ierr)
   call MPI_Wait(request, status, ierr)
   call MPI_Get_count(status, MPI_INTEGER, n, ierr)
   if (n /= 10 .or. back(3) /= 100*mod(rank + 1, size) + 3) stop 3
   call MPI_File_get_size(fh, bytes, ierr)
   if (bytes /= 40*size) stop 4
   state = 7
   call MPI_Register_datarep('swapped', swap, swap, width, state, ierr)
   if (ierr /= MPI_SUCCESS) stop 5
   at = 40*rank
   call MPI_Barrier(MPI_COMM_WORLD, ierr)
   call MPI_File_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'swapped', MPI_INFO_NULL, ierr)
   if (ierr /= MPI_SUCCESS) stop 6
   call MPI_File_get_view(fh, bytes, i, n, form, ierr)
   if (bytes /= at .or. i /= MPI_INTEGER .or. form /= 'swapped') stop 7
   call MPI_File_read_all(fh, back, 10, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
   if (any(back /= not(mine))) stop 8
   call MPI_File_close(fh, ierr)
   if (fh /= MPI_FILE_NULL) stop 9
   call MPI_File_read(MPI_FILE_NULL, back, 1, MPI_INTEGER, status, ierr)
   call MPI_Error_class(ierr, class, ierr)
   if (class /= MPI_ERR_FILE) stop 10
   call MPI_Finalize(ierr)
end program

! swap converts integers to their complements, both ways.
subroutine swap(user, type, n, file, position, state, ierr)
   use mpi
   implicit none
   integer :: type, n, ierr, user(*), file(*)
   integer(MPI_OFFSET_KIND) :: position
   integer(MPI_ADDRESS_KIND) :: state
   integer :: i
   do i = 1, n
      user(position + i) = not(file(i))
   end do
   ierr = MPI_SUCCESS
   if (state /= 7 .or. type /= MPI_INTEGER) ierr = MPI_ERR_CONVERSION
end subroutine

subroutine width(type, extent, state, ierr)
   use mpi
   implicit none
   integer :: type, ierr
   integer(MPI_ADDRESS_KIND) :: extent, state
   extent = 4
   ierr = MPI_SUCCESS
   if (state /= 7 .or. type /= MPI_INTEGER) ierr = MPI_ERR_CONVERSION
end subroutine
