! Calls the families of procedures by "use mpi_f08": handles as types, the error code left out,
! sections of arrays as buffers, large counts, callbacks, special values. It runs with any number of
! ranks from 2.
program f08
   use mpi_f08
   use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
   implicit none
   integer :: rank, size, failures, total, told, copied

   failures = 0
   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, size)
   call handles
   call point_to_point
   call sections
   call items
   call nonblocking
   call collectives
   call large_counts
   call types
   call reductions
   call attributes
   call errors
   call memory
   call strings
   call onesided
   call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (rank == 0) print '(a,i0,a)', 'f08: ', total, ' failures'
   call MPI_Finalize()
   if (total /= 0) stop 1

contains

   subroutine check(good, what)
      logical, intent(in) :: good
      character(*), intent(in) :: what
      if (good) return
      failures = failures + 1
      print '(a,i0,2a)', 'rank ', rank, ': ', what
   end subroutine

   subroutine handles
      type(MPI_Comm) :: copy, none
      integer :: result, error
      none = MPI_COMM_NULL
      call check(none == MPI_COMM_NULL .and. none /= MPI_COMM_WORLD, 'handles are compared')
      call check(MPI_COMM_WORLD%MPI_VAL /= 0, 'a handle has a number')
      call MPI_Comm_dup(MPI_COMM_WORLD, copy, error)
      call check(error == MPI_SUCCESS .and. copy /= MPI_COMM_WORLD, 'dup')
      call MPI_Comm_compare(copy, MPI_COMM_WORLD, result)
      call check(result == MPI_CONGRUENT, 'compare')
      call MPI_Comm_free(copy)
      call check(copy == MPI_COMM_NULL, 'free')
   end subroutine

   subroutine point_to_point
      type(MPI_Status) :: status
      integer :: f_status(MPI_STATUS_SIZE), n, right, left
      double precision :: out(3), in(3)
      logical :: flag
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      out = rank
      in = -1
      call MPI_Sendrecv(out, 3, MPI_DOUBLE_PRECISION, right, 5, in, 3, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, status)
      call check(all(in == left), 'sendrecv')
      call check(status%MPI_SOURCE == left .and. status%MPI_TAG == 5, 'status')
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n)
      call check(n == 3, 'get_count')
      call MPI_Status_f082f(status, f_status)
      call check(f_status(MPI_SOURCE) == left, 'status_f082f')
      status%MPI_SOURCE = -7
      call MPI_Status_f2f08(f_status, status)
      call check(status%MPI_SOURCE == left, 'status_f2f08')
      call MPI_Sendrecv(out(1), 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 5, in(1), 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 5, &
         MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
      call check(.not. flag, 'iprobe of nothing')
   end subroutine

   ! Sections in two dimensions, partly sent, with strides forwards and backwards.
   subroutine sections
      integer :: a(6, 5), b(6, 5), i, j, k
      integer, allocatable :: want(:)
      a = reshape([(1000*rank + i, i = 1, 30)], [6, 5])
      do k = 1, 9
         b = -1
         if (rank == 0) call MPI_Send(a(1:6:2, 5:1:-2), k, MPI_INTEGER, 1, k, MPI_COMM_WORLD)
         if (rank == 1) then
            call MPI_Recv(b(2:6:2, 1:3), k, MPI_INTEGER, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            want = [((i + 6*(j - 1), i = 1, 6, 2), j = 5, 1, -2)]
            call check(all(pack(b(2:6:2, 1:3), .true.) == [want(:k), [(-1, i = k + 1, 9)]]), 'a section is sent')
            call check(all(b(1:6:2, :) == -1) .and. all(b(:, 4:5) == -1), 'beside a section nothing changes')
         end if
      end do
   end subroutine

   ! An item of a message has two elements of the section, or an element has two items.
   subroutine items
      integer :: a(8), b(8), i
      complex :: c(4), d(4)
      real :: parts(8)
      a = [(i, i = 1, 8)]
      b = 0
      if (rank == 0) call MPI_Send(a(1:7:2), 2, MPI_2INTEGER, 1, 0, MPI_COMM_WORLD)
      if (rank == 1) then
         call MPI_Recv(b(2:8:2), 2, MPI_2INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
         call check(all(b(2:8:2) == a(1:7:2)) .and. all(b(1:7:2) == 0), 'items of two elements')
      end if
      c = [((1.0, 2.0)*i, i = 1, 4)]
      d = 0
      if (rank == 0) call MPI_Send(c(4:1:-3), 4, MPI_REAL, 1, 1, MPI_COMM_WORLD)
      if (rank == 1) then
         call MPI_Recv(parts, 8, MPI_REAL, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
         call check(all(parts(1:4) == [4.0, 8.0, 1.0, 2.0]), 'elements of two items')
      end if
   end subroutine

   subroutine nonblocking
      integer, asynchronous :: a(4, 4), b(4, 4)
      type(MPI_Request) :: requests(2)
      type(MPI_Status) :: statuses(2)
      integer :: right, left, index
      logical :: flag
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      a = rank
      b = -1
      call MPI_Irecv(b(2, :), 4, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(1))
      call MPI_Isend(a(:, 3), 4, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(2))
      call MPI_Waitall(2, requests, statuses)
      call MPI_F_sync_reg(b)
      call check(all(b(2, :) == left) .and. count(b /= -1) == 4, 'a row is received')
      call check(statuses(1)%MPI_SOURCE == left, 'statuses')
      call check(requests(1) == MPI_REQUEST_NULL, 'requests are gone')
      call MPI_Recv_init(b(:, 1), 4, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1))
      call MPI_Send_init(a(4, :), 4, MPI_INTEGER, right, 4, MPI_COMM_WORLD, requests(2))
      call MPI_Startall(2, requests)
      call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE)
      call check(index == 1 .or. index == 2, 'waitany counts from 1')
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call check(all(b(:, 1) == left), 'persistent')
      call MPI_Request_free(requests(1))
      call MPI_Request_free(requests(2))
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(1))
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
      call check(flag, 'test of nothing')
   end subroutine

   subroutine collectives
      integer :: a(3, size), b(2, size), sum, i
      a = rank
      call MPI_Gather(rank, 1, MPI_INTEGER, a(2, :), 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
      if (rank == 0) call check(all(a(2, :) == [(i, i = 0, size - 1)]) .and. all(a(1, :) == 0), 'gather into a row')
      b = rank
      call MPI_Alltoall(b(1, :), 1, MPI_INTEGER, b(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD)
      call check(all(b(2, :) == [(i, i = 0, size - 1)]) .and. all(b(1, :) == rank), 'alltoall of rows')
      a = merge(7, -1, rank == 0)
      call MPI_Bcast(a(1, :), size, MPI_INTEGER, 0, MPI_COMM_WORLD)
      call check(all(a(1, :) == 7) .and. (rank == 0 .or. all(a(2:, :) == -1)), 'bcast of a row')
      sum = rank
      call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      call check(sum == size*(size - 1)/2, 'in place')
      a = rank
      call MPI_Allreduce(MPI_IN_PLACE, a(3, :), size, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
      call check(all(a(3, :) == size - 1) .and. all(a(1:2, :) == rank), 'in place of a row')
   end subroutine

   subroutine large_counts
      integer(MPI_COUNT_KIND) :: n, got, length
      integer :: a(2), position
      type(MPI_Status) :: status
      character :: packed(16)
      n = 2
      a = rank
      if (rank == 0) call MPI_Send(a, n, MPI_INTEGER, 1, 9, MPI_COMM_WORLD)
      if (rank == 1) then
         call MPI_Recv(a, n, MPI_INTEGER, 0, 9, MPI_COMM_WORLD, status)
         call MPI_Get_count(status, MPI_INTEGER, got)
         call check(got == 2, 'get_count with a large count')
      end if
      call MPI_Type_size(MPI_INTEGER, length)
      call check(length == 4, 'type_size with a large count')
      position = 0
      call MPI_Pack(a, 2, MPI_INTEGER, packed, 16, position, MPI_COMM_WORLD)
      call check(position == 8, 'pack')
   end subroutine

   subroutine types
      type(MPI_Datatype) :: column, both
      integer(MPI_ADDRESS_KIND) :: lower, extent, places(2)
      integer :: a(2, 3), i, bytes
      call MPI_Type_vector(3, 1, 2, MPI_INTEGER, column)
      call MPI_Type_commit(column)
      call MPI_Type_get_extent(column, lower, extent)
      call check(lower == 0 .and. extent == 20, 'extent')
      a = reshape([(i, i = 1, 6)], [2, 3])
      call MPI_Sendrecv_replace(a, 1, column, rank, 2, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call check(all(a == reshape([(i, i = 1, 6)], [2, 3])), 'sendrecv_replace')
      call MPI_Get_address(a(1, 1), places(1))
      call MPI_Get_address(a(2, 1), places(2))
      call check(MPI_Aint_diff(places(2), places(1)) == 4, 'addresses')
      call MPI_Type_create_struct(2, [1, 1], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_INTEGER, MPI_REAL], both)
      call MPI_Type_size(both, bytes)
      call check(bytes == 8, 'struct')
      call MPI_Type_free(both)
      call MPI_Type_free(column)
      call MPI_Sizeof(1d0, bytes)
      call check(bytes == 8, 'sizeof')
   end subroutine

   subroutine product_of(invec, inoutvec, len, datatype)
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
      integer, pointer :: a(:), b(:)
      call c_f_pointer(invec, a, [len])
      call c_f_pointer(inoutvec, b, [len])
      if (datatype == MPI_INTEGER) b = a*b
   end subroutine

   subroutine reductions
      type(MPI_Op) :: product
      integer :: value, want, i
      logical :: commutes
      call MPI_Op_create(product_of, .true., product)
      call MPI_Op_commutative(product, commutes)
      call check(commutes, 'op_commutative')
      value = rank + 1
      call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, product, MPI_COMM_WORLD)
      want = 1
      do i = 1, size
         want = want*i
      end do
      call check(value == want, 'an operation of ours')
      call MPI_Op_free(product)
   end subroutine

   subroutine copy_attribute(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
      type(MPI_Comm) :: oldcomm
      integer :: comm_keyval, ierror
      integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
      attribute_val_out = attribute_val_in + extra_state
      if (oldcomm == MPI_COMM_WORLD) copied = comm_keyval
      flag = .true.
      ierror = MPI_SUCCESS
   end subroutine

   subroutine attributes
      type(MPI_Comm) :: copy
      integer :: key
      integer(MPI_ADDRESS_KIND) :: value
      logical :: flag
      call MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, key, 5_MPI_ADDRESS_KIND)
      call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 37_MPI_ADDRESS_KIND)
      call MPI_Comm_dup(MPI_COMM_WORLD, copy)
      call MPI_Comm_get_attr(copy, key, value, flag)
      call check(flag .and. value == 42 .and. copied == key, 'attributes')
      call MPI_Comm_free(copy)
      call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
      call MPI_Comm_free_keyval(key)
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
      call check(flag .and. value >= 32767, 'tag_ub')
   end subroutine

   subroutine tell(comm, error_code)
      type(MPI_Comm) :: comm
      integer :: error_code
      if (comm == MPI_COMM_WORLD) told = error_code
   end subroutine

   subroutine errors
      type(MPI_Errhandler) :: handler, before
      integer :: error, class
      told = 0
      call MPI_Comm_get_errhandler(MPI_COMM_WORLD, before)
      call MPI_Comm_create_errhandler(tell, handler)
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
      call MPI_Send(rank, 1, MPI_INTEGER, size + 7, 0, MPI_COMM_WORLD, error)
      call MPI_Error_class(error, class)
      call check(class == MPI_ERR_RANK .and. told == error, 'a handler of ours')
      call refused
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, before)
      call MPI_Errhandler_free(handler)
   end subroutine

   ! What no datatype describes is an error, and not a wrong message.
   subroutine refused
      integer, asynchronous :: a(2, size)
      integer :: b(12), error, class
      type(MPI_Datatype) :: gaps
      type(MPI_Request) :: request
      call MPI_Igather(rank, 1, MPI_INTEGER, a(1, :), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request, error)
      call MPI_Error_class(error, class)
      call check(class == MPI_ERR_BUFFER, 'a section of igather is refused')
      call MPI_Type_vector(2, 1, 2, MPI_INTEGER, gaps)
      call MPI_Type_commit(gaps)
      call MPI_Send(b(1:11:2), 1, gaps, rank, 0, MPI_COMM_WORLD, error)
      call MPI_Error_class(error, class)
      call check(class == MPI_ERR_TYPE, 'gaps in a section are refused')
      call MPI_Send(b(1:11:2), 7, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, error)
      call MPI_Error_class(error, class)
      call check(class == MPI_ERR_TYPE, 'more than the section has is refused')
      call MPI_Type_free(gaps)
   end subroutine

   subroutine memory
      type(c_ptr) :: base, gone
      integer, pointer :: a(:)
      integer, target :: attached(1000)
      integer :: bytes
      call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, base)
      call c_f_pointer(base, a, [10])
      a = rank
      call check(sum(a) == 10*rank, 'alloc_mem')
      call MPI_Free_mem(a)
      call MPI_Buffer_attach(attached, 4000)
      call MPI_Buffer_detach(gone, bytes)
      call c_f_pointer(gone, a, [1000])
      a(3) = 11
      call check(bytes == 4000 .and. attached(3) == 11, 'buffer_detach gives the address')
   end subroutine

   subroutine strings
      character(MPI_MAX_OBJECT_NAME) :: name
      character(8) :: value
      integer(MPI_ADDRESS_KIND) :: bytes, position
      type(MPI_Info) :: info
      integer :: n, room
      character :: packed(64)
      logical :: flag
      call MPI_Comm_set_name(MPI_COMM_WORLD, 'all of us  ')
      call MPI_Comm_get_name(MPI_COMM_WORLD, name, n)
      call check(name(:n) == 'all of us' .and. n == 9, 'names')
      call MPI_Info_create(info)
      call MPI_Info_set(info, 'key', 'value')
      room = 8
      call MPI_Info_get_string(info, 'key', room, value, flag)
      call check(flag .and. value == 'value' .and. room == 5, 'info')
      call MPI_Info_free(info)
      call check(info == MPI_INFO_NULL, 'info is gone')
      call MPI_Pack_external_size('external32', 2, MPI_INTEGER, bytes)
      position = 0
      call MPI_Pack_external('external32', [1, 2], 2, MPI_INTEGER, packed, 64_MPI_ADDRESS_KIND, position)
      call check(bytes == 8 .and. position == 8, 'external32')
      call check(ichar(packed(4)) == 1 .and. ichar(packed(8)) == 2, 'external32 has the first byte last')
   end subroutine

   ! A section of an array is put, a section is filled by a request, and a counter is fetched; then
   ! the same in an epoch of post and start.
   subroutine onesided
      double precision, target, save :: part(10)
      double precision :: matrix(3, 4), take(6)
      integer, asynchronous :: was(1), one(1)
      integer :: right, left, i
      integer(MPI_ADDRESS_KIND) :: bytes
      type(MPI_Win) :: win
      type(MPI_Request) :: request
      type(MPI_Group) :: world, to, from
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      do i = 1, 4
         matrix(:, i) = [10*i + 1, 10*i + 2, 10*i + 3] + 100*rank
      end do
      part = 0
      take = -1
      bytes = 80
      call MPI_Win_create(part, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
      call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
      call MPI_Win_lock_all(0, win, i)
      if (i /= MPI_SUCCESS) then ! with replicas
         call MPI_Error_class(i, i)
         call check(i == MPI_ERR_UNSUPPORTED_OPERATION, 'lock_all with replicas')
         call MPI_Win_free(win)
         return
      end if
      call MPI_Put(matrix(2, :), 4, MPI_DOUBLE_PRECISION, right, 0_MPI_ADDRESS_KIND, 4, MPI_DOUBLE_PRECISION, win)
      call MPI_Win_flush(right, win)
      call MPI_Rget(take(1:6:2), 3, MPI_DOUBLE_PRECISION, right, 0_MPI_ADDRESS_KIND, 3, MPI_DOUBLE_PRECISION, win, request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call check(all(take == [12, -1, 22, -1, 32, -1] + [100, 0, 100, 0, 100, 0]*rank), 'rget')
      one = 1
      call MPI_Fetch_and_op(one, was, MPI_INTEGER, 0, 9_MPI_ADDRESS_KIND, MPI_SUM, win)
      call MPI_Win_flush(0, win)
      call check(was(1) >= 0 .and. was(1) < size, 'fetch_and_op')
      call MPI_Win_unlock_all(win)
      call MPI_Barrier(MPI_COMM_WORLD)
      call check(all(part(1:4) == [12, 22, 32, 42] + 100*left), 'put')
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_Comm_group(MPI_COMM_WORLD, world)
      call MPI_Group_incl(world, 1, [right], to)
      call MPI_Group_incl(world, 1, [left], from)
      call MPI_Win_post(from, 0, win)
      call MPI_Win_start(to, 0, win)
      call MPI_Accumulate(matrix(1, 1:2), 2, MPI_DOUBLE_PRECISION, right, 5_MPI_ADDRESS_KIND, 2, MPI_DOUBLE_PRECISION, MPI_SUM, win)
      call MPI_Win_complete(win)
      call MPI_Win_wait(win)
      call check(all(part(6:7) == [11, 21] + 100*left), 'accumulate')
      call MPI_Group_free(world)
      call MPI_Group_free(to)
      call MPI_Group_free(from)
      call MPI_Win_free(win)
   end subroutine
end program
