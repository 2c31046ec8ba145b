! Calls each family of procedures from Fortran, by "use mpi", and checks the results:
! handles, statuses, logicals, strings, special values, indices from 1, attributes
! and callbacks. It runs with any number of ranks from 2.
program families
   use mpi
   implicit none
   integer :: rank, size, ierr, failures, total, told, asked, freed

   failures = 0
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
   call point_to_point
   call requests
   call collectives
   call types
   call communicators
   call strings
   call attributes
   call topologies
   call windows
   call onesided
   call generalised
   call errors
   call MPI_Allreduce(failures, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
   if (rank == 0) print '(a,i0,a)', 'families: ', total, ' failures'
   call MPI_Finalize(ierr)
   if (total /= 0) stop 1

contains

   subroutine check(good, what)
      logical, intent(in) :: good
      character(*), intent(in) :: what
      if (good .and. ierr == MPI_SUCCESS) return
      failures = failures + 1
      print '(a,i0,3a,i0)', 'rank ', rank, ': ', what, ', error ', ierr
   end subroutine

   subroutine point_to_point
      integer :: status(MPI_STATUS_SIZE), right, left, n
      double precision :: out(3), in(3)
      logical :: flag
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      out = rank
      in = -1
      call MPI_Sendrecv(out, 3, MPI_DOUBLE_PRECISION, right, 5, in, 3, MPI_DOUBLE_PRECISION, left, 5, &
         MPI_COMM_WORLD, status, ierr)
      call check(all(in == left), 'sendrecv')
      call check(status(MPI_SOURCE) == left .and. status(MPI_TAG) == 5, 'status of sendrecv')
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n, ierr)
      call check(n == 3, 'get_count')
      call MPI_Sendrecv(out, 3, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 5, in, 3, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 5, &
         MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check(all(in == left), 'sendrecv with MPI_PROC_NULL')
      call MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
      call check(.not. flag, 'iprobe of nothing')
   end subroutine

   subroutine requests
      integer :: request(4), status(MPI_STATUS_SIZE, 4), i, index, indices(4), count, in(2)
      logical :: flag
      do i = 1, 2
         call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, request(i), ierr)
         call check(request(i) /= MPI_REQUEST_NULL, 'irecv')
      end do
      call MPI_Testany(2, request, index, flag, MPI_STATUS_IGNORE, ierr)
      call check(.not. flag .and. index == MPI_UNDEFINED, 'testany of none')
      call MPI_Send(42, 1, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, ierr)
      call MPI_Waitany(2, request, index, status(:, 1), ierr)
      call check(index == 2 .and. in(2) == 42 .and. request(2) == MPI_REQUEST_NULL, 'waitany counts from 1')
      call check(status(MPI_TAG, 1) == 2, 'status of waitany')
      call MPI_Send(41, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, ierr)
      call MPI_Waitsome(2, request, count, indices, MPI_STATUSES_IGNORE, ierr)
      call check(count == 1 .and. indices(1) == 1 .and. in(1) == 41, 'waitsome counts from 1')
      do i = 1, 2
         call MPI_Irecv(in(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, request(i), ierr)
         call MPI_Isend(10*i, 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, request(2 + i), ierr)
      end do
      call MPI_Waitall(4, request, status, ierr)
      call check(all(request == MPI_REQUEST_NULL) .and. in(1) == 10 .and. in(2) == 20, 'waitall')
      call check(status(MPI_TAG, 2) == 2, 'statuses of waitall')
      call MPI_Recv_init(in(1), 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, request(1), ierr)
      call MPI_Start(request(1), ierr)
      call MPI_Send(7, 1, MPI_INTEGER, rank, 9, MPI_COMM_WORLD, ierr)
      call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierr)
      call check(in(1) == 7 .and. request(1) /= MPI_REQUEST_NULL, 'a persistent request')
      call MPI_Request_free(request(1), ierr)
      call check(request(1) == MPI_REQUEST_NULL, 'request_free')
   end subroutine

   subroutine collectives
      integer :: x, sum, i, op
      integer :: each(size), counts(size), displs(size)
      integer :: requests(1)
      x = -1
      if (rank == 1) x = 11
      call MPI_Bcast(x, 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
      call check(x == 11, 'bcast')
      sum = rank + 1
      call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call check(sum == size*(size + 1)/2, 'allreduce in place')
      call MPI_Allgather(rank, 1, MPI_INTEGER, each, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call check(all(each == [(i, i=0, size - 1)]), 'allgather')
      counts = 1
      displs = [(size - 1 - i, i=0, size - 1)]
      call MPI_Allgatherv(rank, 1, MPI_INTEGER, each, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call check(all(each == displs), 'allgatherv')
      call MPI_Op_create(larger, .true., op, ierr)
      call MPI_Allreduce(rank, x, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
      call check(x == size - 1, 'an operation of the program')
      call MPI_Op_free(op, ierr)
      call check(op == MPI_OP_NULL, 'op_free')
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(1), ierr)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
      call check(requests(1) == MPI_REQUEST_NULL, 'ibarrier')
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call check(.true., 'barrier')
   end subroutine

   subroutine larger(in, inout, n, type)
      integer :: n, type, in(n), inout(n)
      if (type /= MPI_INTEGER) failures = failures + 1
      inout = max(in, inout)
   end subroutine

   subroutine types
      integer :: row, part, pair, bytes, i, j
      integer(MPI_ADDRESS_KIND) :: lb, extent, displs(2)
      integer :: matrix(4, 4), got(4), lengths(2), kinds(2), position
      character(64) :: buffer
      matrix = reshape([((10*i + j, i=1, 4), j=1, 4)], [4, 4])
      call MPI_Type_vector(4, 1, 4, MPI_INTEGER, row, ierr)
      call MPI_Type_commit(row, ierr)
      call MPI_Type_size(row, bytes, ierr)
      call MPI_Type_get_extent(row, lb, extent, ierr)
      call check(bytes == 16 .and. lb == 0 .and. extent == 4*13, 'type_vector')
      call MPI_Sendrecv(matrix(2, 1), 1, row, rank, 1, got, 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check(all(got == matrix(2, :)), 'a row of a matrix')
      call MPI_Type_create_subarray(2, [4, 4], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, part, ierr)
      call MPI_Type_commit(part, ierr)
      got = 0
      call MPI_Sendrecv(matrix, 1, part, rank, 1, got, 4, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check(all(got == [22, 32, 23, 33]), 'a part of a matrix')
      lengths = 1
      kinds = [MPI_DOUBLE_PRECISION, MPI_INTEGER]
      displs = [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND]
      call MPI_Type_create_struct(2, lengths, displs, kinds, pair, ierr)
      call MPI_Type_size(pair, bytes, ierr)
      call check(bytes == 12 .and. kinds(2) == MPI_INTEGER, 'type_create_struct')
      position = 0
      call MPI_Pack(matrix, 2, MPI_INTEGER, buffer, 64, position, MPI_COMM_WORLD, ierr)
      call check(position == 8, 'pack')
      position = 0
      call MPI_Unpack(buffer, 64, position, got, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
      call check(got(2) == matrix(2, 1), 'unpack')
      call MPI_Type_free(row, ierr)
      call MPI_Type_free(part, ierr)
      call MPI_Type_free(pair, ierr)
      call check(row == MPI_DATATYPE_NULL, 'type_free')
   end subroutine

   subroutine communicators
      integer :: half, n, world, group, pair, relation, ranks(1, 3)
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
      call MPI_Comm_size(half, n, ierr)
      call check(n == (size + 1 - mod(rank, 2))/2, 'comm_split')
      call MPI_Comm_free(half, ierr)
      call check(half == MPI_COMM_NULL, 'comm_free')
      call MPI_Comm_dup(MPI_COMM_WORLD, world, ierr)
      call MPI_Comm_compare(MPI_COMM_WORLD, world, relation, ierr)
      call check(relation == MPI_CONGRUENT, 'comm_compare')
      call MPI_Comm_group(world, group, ierr)
      call MPI_Group_size(group, n, ierr)
      call check(n == size, 'comm_group')
      ranks(1, :) = [0, 1, 1]
      call MPI_Group_range_incl(group, 1, reshape([0, 1, 1], [3, 1]), pair, ierr)
      call MPI_Group_size(pair, n, ierr)
      call check(n == 2, 'group_range_incl')
      call MPI_Group_free(pair, ierr)
      call MPI_Group_free(group, ierr)
      call MPI_Comm_free(world, ierr)
      call check(group == MPI_GROUP_NULL, 'group_free')
   end subroutine

   subroutine strings
      character(MPI_MAX_PROCESSOR_NAME) :: name
      character(MPI_MAX_OBJECT_NAME) :: title
      character(MPI_MAX_ERROR_STRING) :: text
      character(20) :: value
      integer :: n, info, major, minor
      logical :: flag
      call MPI_Get_processor_name(name, n, ierr)
      call check(n > 0 .and. n == len_trim(name), 'get_processor_name pads with blanks')
      call MPI_Comm_set_name(MPI_COMM_SELF, '  the self  ', ierr)
      call MPI_Comm_get_name(MPI_COMM_SELF, title, n, ierr)
      call check(title == 'the self' .and. n == 8, 'a name without blanks around it')
      call MPI_Error_string(MPI_ERR_RANK, text, n, ierr)
      call check(len_trim(text) > 0, 'error_string')
      call MPI_Info_create(info, ierr)
      call MPI_Info_set(info, 'colour', 'red', ierr)
      call MPI_Info_get(info, 'colour', 20, value, flag, ierr)
      call check(flag .and. value == 'red', 'info')
      call MPI_Info_get(info, 'taste', 20, value, flag, ierr)
      call check(.not. flag, 'info of nothing')
      value = 'untouched'
      call MPI_Info_get(info, 'taste', 20, value, flag, ierr)
      call check(.not. flag .and. value == 'untouched', 'info_get of an unknown key')
      n = 20
      call MPI_Info_get_string(info, 'colour', n, value, flag, ierr)
      call check(flag .and. value == 'red' .and. n == 3, 'info_get_string')
      n = 2
      call MPI_Info_get_string(info, 'colour', n, value, flag, ierr)
      call check(flag .and. value == 're' .and. n == 3, 'info_get_string with little room')
      n = 0
      value = 'untouched'
      call MPI_Info_get_string(info, 'colour', n, value, flag, ierr)
      call check(flag .and. value == 'untouched' .and. n == 3, 'info_get_string without room')
      call MPI_Info_free(info, ierr)
      call MPI_Info_create_env(info, ierr)
      call MPI_Info_get(info, 'command', 20, value, flag, ierr)
      call check(flag, 'info_create_env')
      call MPI_Info_free(info, ierr)
      call MPI_Get_version(major, minor, ierr)
      call check(major == MPI_VERSION .and. minor == MPI_SUBVERSION, 'get_version')
   end subroutine

   subroutine attributes
      use iso_c_binding
      interface
         integer(c_int) function c_get(comm, key, value, flag) bind(C, name='MPI_Comm_get_attr')
            use iso_c_binding
            integer(c_intptr_t), value :: comm
            integer(c_int), value :: key
            type(c_ptr) :: value
            integer(c_int) :: flag
         end function
         integer(c_int) function c_set(comm, key, value) bind(C, name='MPI_Comm_set_attr')
            use iso_c_binding
            integer(c_intptr_t), value :: comm
            integer(c_int), value :: key
            type(c_ptr), value :: value
         end function
      end interface
      integer, target :: target
      integer(c_intptr_t), pointer :: cell
      type(c_ptr) :: at
      integer(c_int) :: found
      integer :: key, dup, other
      integer(MPI_ADDRESS_KIND) :: value, extra
      logical :: flag
      call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
      call check(flag .and. value >= 32767, 'the largest tag')
      extra = 3
      call MPI_Comm_create_keyval(twice, MPI_COMM_NULL_DELETE_FN, key, extra, ierr)
      value = 21
      call MPI_Comm_set_attr(MPI_COMM_SELF, key, value, ierr)
      value = 0
      call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag, ierr)
      call check(flag .and. value == 21, 'an attribute')
      call MPI_Comm_dup(MPI_COMM_SELF, dup, ierr)
      value = 0
      call MPI_Comm_get_attr(dup, key, value, flag, ierr)
      call check(flag .and. value == 45, 'an attribute that is copied')
      ierr = c_get(int(dup, c_intptr_t), int(key, c_int), at, found)
      call check(found == 1, 'an attribute in C')
      call c_f_pointer(at, cell)
      call check(cell == 45, 'for C, an attribute that Fortran has set is a pointer to it')
      call MPI_Comm_free(dup, ierr)
      ierr = c_set(int(MPI_COMM_SELF, c_intptr_t), int(key, c_int), c_loc(target))
      call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag, ierr)
      call check(flag .and. value == transfer(c_loc(target), value), 'an attribute that C has set is its pointer')
      call MPI_Comm_delete_attr(MPI_COMM_SELF, key, ierr)
      call MPI_Comm_free_keyval(key, ierr)
      call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, other, extra, ierr)
      call MPI_Comm_set_attr(MPI_COMM_SELF, other, value, ierr)
      call MPI_Comm_dup(MPI_COMM_SELF, dup, ierr)
      call MPI_Comm_get_attr(dup, other, value, flag, ierr)
      call check(.not. flag, 'an attribute that is not copied')
      call MPI_Comm_free(dup, ierr)
      call narrow_attributes
   end subroutine

   subroutine narrow_attributes ! of MPI-1, whose values are default integers
      integer :: key, dup, around(3)
      logical :: flag
      call MPI_Keyval_create(narrow, MPI_NULL_DELETE_FN, key, 3, ierr)
      call MPI_Attr_put(MPI_COMM_SELF, key, -21, ierr)
      around = 7
      call MPI_Attr_get(MPI_COMM_SELF, key, around(2), flag, ierr)
      call check(flag .and. all(around == [7, -21, 7]), 'an attribute of MPI-1')
      call MPI_Comm_dup(MPI_COMM_SELF, dup, ierr)
      call MPI_Attr_get(dup, key, around(2), flag, ierr)
      call check(flag .and. all(around == [7, -39, 7]), 'one that is copied')
      call MPI_Comm_free(dup, ierr)
      call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
      call MPI_Attr_get(MPI_COMM_SELF, key, around(2), flag, ierr)
      call check(.not. flag, 'one that is deleted')
      call MPI_Keyval_free(key, ierr)
   end subroutine

   subroutine narrow(comm, key, extra, in, out, flag, error)
      integer :: comm, key, extra, in, out, error
      logical :: flag
      if (comm /= MPI_COMM_SELF .or. key == MPI_KEYVAL_INVALID) failures = failures + 1
      out = 2*in + extra
      flag = .true.
      error = MPI_SUCCESS
   end subroutine

   subroutine twice(comm, key, extra, in, out, flag, error)
      integer :: comm, key, error
      integer(MPI_ADDRESS_KIND) :: extra, in, out
      logical :: flag
      if (comm /= MPI_COMM_SELF .or. key == MPI_KEYVAL_INVALID) failures = failures + 1
      out = 2*in + extra
      flag = .true.
      error = MPI_SUCCESS
   end subroutine

   subroutine topologies
      integer :: ring, dims(1), coords(1), left, right
      logical :: periods(1)
      dims = 0
      call MPI_Dims_create(size, 1, dims, ierr)
      periods = .true.
      call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., ring, ierr)
      call MPI_Cart_shift(ring, 0, 1, left, right, ierr)
      call check(right == mod(rank + 1, size) .and. left == mod(rank + size - 1, size), 'cart_shift')
      periods = .false.
      call MPI_Cart_get(ring, 1, dims, periods, coords, ierr)
      call check(periods(1) .and. coords(1) == rank .and. dims(1) == size, 'cart_get')
      call MPI_Comm_free(ring, ierr)
   end subroutine

   ! Each rank puts to the next one, and all add to the first; with replicas, too.
   subroutine onesided
      double precision :: part(8), give(2), take(2), before(2)
      integer :: win, right, left
      integer(MPI_ADDRESS_KIND) :: bytes, at
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      part = 0
      give = [rank + 0.5d0, rank + 0.25d0]
      take = 0
      bytes = 64
      call MPI_Win_create(part, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
      call MPI_Win_fence(0, win, ierr)
      at = 2
      call MPI_Put(give, 2, MPI_DOUBLE_PRECISION, right, at, 2, MPI_DOUBLE_PRECISION, win, ierr)
      at = 6
      call MPI_Accumulate(give, 1, MPI_DOUBLE_PRECISION, 0, at, 1, MPI_DOUBLE_PRECISION, MPI_SUM, win, ierr)
      call MPI_Win_fence(0, win, ierr)
      call check(part(3) == left + 0.5d0 .and. part(4) == left + 0.25d0, 'put')
      if (rank == 0) call check(part(7) == size*(size - 1)/2 + size*0.5d0, 'accumulate')
      at = 2
      call MPI_Get(take, 2, MPI_DOUBLE_PRECISION, right, at, 2, MPI_DOUBLE_PRECISION, win, ierr)
      at = 0
      call MPI_Get_accumulate(give, 2, MPI_DOUBLE_PRECISION, before, 2, MPI_DOUBLE_PRECISION, right, at, 2, &
                              MPI_DOUBLE_PRECISION, MPI_REPLACE, win, ierr)
      call MPI_Win_fence(0, win, ierr)
      call check(all(take == give) .and. all(before == 0), 'get')
      call check(part(1) == left + 0.5d0, 'get_accumulate')
      call MPI_Win_free(win, ierr)
      call check(win == MPI_WIN_NULL, 'win_free')
   end subroutine

   ! The ranks of a host share an array; with replicas each rank has one of its own.
   subroutine windows
      use iso_c_binding
      integer :: node, win, unit, n, me, i, key, length, handler
      integer(MPI_ADDRESS_KIND) :: bytes, value, extra
      type(c_ptr) :: base
      double precision, pointer :: mine(:), theirs(:)
      character(MPI_MAX_OBJECT_NAME) :: name
      logical :: flag, good
      call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierr)
      call MPI_Comm_size(node, n, ierr)
      call MPI_Comm_rank(node, me, ierr)
      bytes = 8*3
      call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, node, base, win, ierr)
      call check(.true., 'win_allocate_shared')
      call c_f_pointer(base, mine, [3])
      mine = me + 0.5d0
      call MPI_Win_fence(0, win, ierr)
      good = .true.
      do i = 0, n - 1
         call MPI_Win_shared_query(win, i, bytes, unit, base, ierr)
         call c_f_pointer(base, theirs, [3])
         good = good .and. bytes == 24 .and. unit == 8 .and. all(theirs == i + 0.5d0)
      end do
      call check(good, 'win_shared_query')
      call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
      call check(flag .and. value == 24, 'the size of a window')
      call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
      call check(flag .and. value == transfer(c_loc(mine), value), 'the base of a window')
      call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
      call check(flag .and. value == MPI_WIN_FLAVOR_SHARED, 'the flavor of a window')
      extra = 0
      call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, extra, ierr)
      value = -7
      call MPI_Win_set_attr(win, key, value, ierr)
      value = 0
      call MPI_Win_get_attr(win, key, value, flag, ierr)
      call check(flag .and. value == -7, 'an attribute of a window')
      call MPI_Win_free_keyval(key, ierr)
      call MPI_Win_set_name(win, 'halo', ierr)
      call MPI_Win_get_name(win, name, length, ierr)
      call check(name == 'halo' .and. length == 4, 'the name of a window')
      call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win, ierr)
      call MPI_Win_unlock(0, win, ierr)
      call MPI_Win_lock_all(0, win, ierr)
      call MPI_Win_sync(win, ierr)
      call MPI_Win_unlock_all(win, ierr)
      call check(.true., 'locks of a window')
      told = 0
      call MPI_Win_create_errhandler(on_window_error, handler, ierr)
      call MPI_Win_set_errhandler(win, handler, ierr)
      call MPI_Errhandler_free(handler, ierr)
      call MPI_Win_unlock(0, win, ierr)
      good = ierr == MPI_ERR_RMA_SYNC .and. told == win
      ierr = MPI_SUCCESS
      call check(good, 'the error handler of a window')
      call MPI_Win_free(win, ierr)
      call check(win == MPI_WIN_NULL, 'win_free')
      call MPI_Comm_free(node, ierr)
   end subroutine

   subroutine on_window_error(win, code)
      integer :: win, code
      if (code == MPI_ERR_RMA_SYNC) told = win
   end subroutine

   subroutine generalised
      integer :: request, status(MPI_STATUS_SIZE)
      integer(MPI_ADDRESS_KIND) :: extra
      extra = 77
      asked = 0
      freed = 0
      call MPI_Grequest_start(on_query, on_free, on_cancel, extra, request, ierr)
      call check(request /= MPI_REQUEST_NULL, 'grequest_start')
      call MPI_Grequest_complete(request, ierr)
      call MPI_Wait(request, status, ierr)
      call check(asked == 77 .and. freed == 77 .and. status(MPI_TAG) == 12, 'a generalised request')
   end subroutine

   subroutine on_query(extra, status, error)
      integer(MPI_ADDRESS_KIND) :: extra
      integer :: status(MPI_STATUS_SIZE), error
      asked = int(extra)
      status(MPI_TAG) = 12
      call MPI_Status_set_elements(status, MPI_INTEGER, 0, error)
      call MPI_Status_set_cancelled(status, .false., error)
   end subroutine

   subroutine on_free(extra, error)
      integer(MPI_ADDRESS_KIND) :: extra
      integer :: error
      freed = int(extra)
      error = MPI_SUCCESS
   end subroutine

   subroutine on_cancel(extra, complete, error)
      integer(MPI_ADDRESS_KIND) :: extra
      logical :: complete
      integer :: error
      error = MPI_SUCCESS
   end subroutine

   subroutine errors
      integer :: class, handler
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
      call MPI_Send(1, 1, MPI_INTEGER, size + 5, 0, MPI_COMM_WORLD, ierr)
      call MPI_Error_class(ierr, class, ierr)
      call check(class == MPI_ERR_RANK, 'a rank that is none')
      call MPI_Comm_get_errhandler(MPI_COMM_WORLD, handler, ierr)
      call check(handler == MPI_ERRORS_RETURN, 'get_errhandler')
      call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
   end subroutine
end program
