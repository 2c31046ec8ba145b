! A program that spawns itself and connects to itself, by mpi_f08.
program spawn08
   use mpi_f08
   implicit none
   type(MPI_Comm) :: parent, inter
   type(MPI_Info) :: infos(2)
   integer :: rank, codes(2), one, sum
   character(len=1024) :: self, commands(2), argument
   character(len=MPI_MAX_PORT_NAME) :: port
   character(len=8) :: argv(2)

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_get_parent(parent)
   call get_command_argument(0, self)
   if (parent /= MPI_COMM_NULL) then
      call get_command_argument(1, argument)
      if (argument /= 'child' .and. argument /= ' ') call MPI_Abort(MPI_COMM_WORLD, 3)
      call together(parent, 2)
      call MPI_Comm_disconnect(parent)
      call MPI_Finalize()
      stop
   end if
   argv = [character(len=8) :: 'child', ' ']
   call MPI_Comm_spawn(self, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes)
   if (codes(1) /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 4)
   call together(inter, 1)
   call MPI_Comm_disconnect(inter)
   commands = self
   infos = MPI_INFO_NULL
   call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, [1, 1], infos, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE)
   call together(inter, 2)
   call MPI_Comm_disconnect(inter)

   if (rank == 0) then
      call MPI_Open_port(MPI_INFO_NULL, port)
      call MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 1, 0, MPI_COMM_WORLD)
      call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter)
      call MPI_Close_port(port)
   else
      call MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter)
   end if
   call together(inter, 1)
   call MPI_Comm_disconnect(inter)
   if (rank == 0) print '(a)', 'good'
   call MPI_Finalize()
contains
   subroutine together(between, others)
      type(MPI_Comm), intent(in) :: between
      integer, intent(in) :: others
      one = 1
      call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, between)
      if (sum /= others) call MPI_Abort(MPI_COMM_WORLD, 5)
   end subroutine
end program
