! A program that spawns itself, by mpif.h: as one program, and as two with arguments of their own.
program spawn
   implicit none
   include 'mpif.h'
   integer :: ierror, rank, n, parent, inter, codes(3), infos(2), procs(2), number, length
   character(len=1024) :: self, name
   character(len=20) :: argv(3), commands_argv(2, 3)
   character(len=1024) :: commands(2)

   call MPI_Init(ierror)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
   call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
   call MPI_Comm_get_parent(parent, ierror)
   call get_command_argument(0, self)
   if (parent /= MPI_COMM_NULL) then
      call MPI_Comm_get_name(parent, name, length, ierror)
      call check(name(1:length) == 'MPI_COMM_PARENT')
      if (command_argument_count() == 2) then
         call get_command_argument(1, name)
         call check(name == 'two')
         call get_command_argument(2, name)
         call check(name == 'words here')
      else
         call get_command_argument(1, name)
         read (name, *) number
         call check(n == 3 .and. (number == 1) .eqv. (rank > 0))
      end if
      call together(parent)
      call MPI_Comm_disconnect(parent, ierror)
      call MPI_Finalize(ierror)
      stop
   end if

   argv = [character(len=20) :: 'two', 'words here', ' ']
   call MPI_Comm_spawn(self, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, ierror)
   call check(ierror == MPI_SUCCESS .and. all(codes(1:2) == MPI_SUCCESS))
   call together(inter)
   call MPI_Comm_disconnect(inter, ierror)

   commands = self
   commands_argv(1, :) = [character(len=20) :: '0', ' ', ' ']
   commands_argv(2, :) = [character(len=20) :: '1', ' ', ' ']
   procs = [1, 2]
   infos = MPI_INFO_NULL
   call MPI_Comm_spawn_multiple(2, commands, commands_argv, procs, infos, 1, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, ierror)
   call check(ierror == MPI_SUCCESS)
   call together(inter)
   call MPI_Comm_disconnect(inter, ierror)

   call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
   call MPI_Comm_spawn('/nowhere/program', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE, ierror)
   call MPI_Error_class(ierror, number, ierror)
   call check(number == MPI_ERR_SPAWN)
   if (rank == 0) print '(a)', 'good'
   call MPI_Finalize(ierror)
contains
   subroutine together(between)
      integer, intent(in) :: between
      integer :: one, sum, others
      one = 1
      call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, between, ierror)
      call MPI_Comm_remote_size(between, others, ierror)
      call check(sum == others)
   end subroutine
   subroutine check(is)
      logical, intent(in) :: is
      if (.not. is) then
         print *, 'wrong'
         call MPI_Abort(MPI_COMM_WORLD, 3, ierror)
      end if
   end subroutine
end program
