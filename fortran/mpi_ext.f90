! The module mpi_ext: what mpif-ext.h has, for use beside the module mpi, and ULFM's procedures also
! with the types of mpi_f08, whose error code may be left out.
module mpi_ext
   use mpi_f08, only: MPI_Comm, MPI_Group, MPI_Request
   implicit none
   private :: MPI_Comm, MPI_Group, MPI_Request
   include 'mpif-ext.h'
   interface MPIX_Comm_revoke
      procedure MPIX_Comm_revoke
      subroutine MPIX_Comm_revoke_f08(comm, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_is_revoked
      procedure MPIX_Comm_is_revoked
      subroutine MPIX_Comm_is_revoked_f08(comm, flag, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         logical, intent(out) :: flag
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_get_failed
      procedure MPIX_Comm_get_failed
      subroutine MPIX_Comm_get_failed_f08(comm, failedgrp, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         type(MPI_Group), intent(out) :: failedgrp
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_ack_failed
      procedure MPIX_Comm_ack_failed
      subroutine MPIX_Comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: num_to_ack
         integer, intent(out) :: num_acked
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_failure_ack
      procedure MPIX_Comm_failure_ack
      subroutine MPIX_Comm_failure_ack_f08(comm, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_failure_get_acked
      procedure MPIX_Comm_failure_get_acked
      subroutine MPIX_Comm_failure_get_acked_f08(comm, failedgrp, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         type(MPI_Group), intent(out) :: failedgrp
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_agree
      procedure MPIX_Comm_agree
      subroutine MPIX_Comm_agree_f08(comm, flag, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         integer, intent(inout) :: flag
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_iagree
      procedure MPIX_Comm_iagree
      subroutine MPIX_Comm_iagree_f08(comm, flag, request, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         integer, intent(inout), asynchronous :: flag
         type(MPI_Request), intent(out) :: request
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_agree_failed
      procedure MPIX_Comm_agree_failed
      subroutine MPIX_Comm_agree_failed_f08(comm, failedgrp, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         type(MPI_Group), intent(out) :: failedgrp
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_shrink
      procedure MPIX_Comm_shrink
      subroutine MPIX_Comm_shrink_f08(comm, newcomm, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         type(MPI_Comm), intent(out) :: newcomm
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_ishrink
      procedure MPIX_Comm_ishrink
      subroutine MPIX_Comm_ishrink_f08(comm, newcomm, request, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         type(MPI_Comm), intent(inout), asynchronous :: newcomm
         type(MPI_Request), intent(out) :: request
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
   interface MPIX_Comm_refill
      procedure MPIX_Comm_refill
      subroutine MPIX_Comm_refill_f08(comm, newcomm, ierror)
         import MPI_Comm, MPI_Group, MPI_Request
         type(MPI_Comm), intent(in) :: comm
         type(MPI_Comm), intent(out) :: newcomm
         integer, optional, intent(out) :: ierror
      end subroutine
   end interface
end module mpi_ext
