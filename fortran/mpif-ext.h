! mpif-ext.h: mpi-ext.h for Fortran, valid in fixed and in free form.
! Include it where mpif.h is included or mpi is used. RESTORED is 1 in
! the first call of a process that replaces a dead one, else 0.
! ADDRESS is a target: compilers then know that a safe point may
! change it. Under another MPI, compile Banyan's mpi-ext.c with the program.
! MPIX_COMM_... is fault tolerance (ULFM), under Banyan only. The module
! mpi_ext has the same.
      interface
        subroutine MPIX_STATE_REGISTER(NAME, ADDRESS, COUNT,            &
     &      DATATYPE, IERROR)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: ADDRESS
!DIR$ IGNORE_TKR ADDRESS
          character(len=*), intent(in) :: NAME
          real, target :: ADDRESS(*)
          integer, intent(in) :: COUNT, DATATYPE
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_STATE_UNREGISTER(NAME, IERROR)
          character(len=*), intent(in) :: NAME
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_SAFEPOINT(RESTORED, IERROR)
          integer, intent(out) :: RESTORED, IERROR
        end subroutine
        subroutine MPIX_EXPECT_SAFEPOINTS(TOTAL, IERROR)
          integer, intent(in) :: TOTAL
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_COMM_REVOKE(COMM, IERROR)
          integer, intent(in) :: COMM
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_COMM_IS_REVOKED(COMM, FLAG, IERROR)
          integer, intent(in) :: COMM
          logical, intent(out) :: FLAG
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_COMM_GET_FAILED(COMM, FAILEDGRP, IERROR)
          integer, intent(in) :: COMM
          integer, intent(out) :: FAILEDGRP, IERROR
        end subroutine
        subroutine MPIX_COMM_ACK_FAILED(COMM, NUM_TO_ACK, NUM_ACKED,    &
     &      IERROR)
          integer, intent(in) :: COMM, NUM_TO_ACK
          integer, intent(out) :: NUM_ACKED, IERROR
        end subroutine
        subroutine MPIX_COMM_FAILURE_ACK(COMM, IERROR)
          integer, intent(in) :: COMM
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_COMM_FAILURE_GET_ACKED(COMM, FAILEDGRP, IERROR)
          integer, intent(in) :: COMM
          integer, intent(out) :: FAILEDGRP, IERROR
        end subroutine
        subroutine MPIX_COMM_AGREE(COMM, FLAG, IERROR)
          integer, intent(in) :: COMM
          integer, intent(inout) :: FLAG
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_COMM_IAGREE(COMM, FLAG, REQUEST, IERROR)
          integer, intent(in) :: COMM
          integer, intent(inout), asynchronous :: FLAG
          integer, intent(out) :: REQUEST, IERROR
        end subroutine
        subroutine MPIX_COMM_AGREE_FAILED(COMM, FAILEDGRP, IERROR)
          integer, intent(in) :: COMM
          integer, intent(out) :: FAILEDGRP, IERROR
        end subroutine
        subroutine MPIX_COMM_SHRINK(COMM, NEWCOMM, IERROR)
          integer, intent(in) :: COMM
          integer, intent(out) :: NEWCOMM, IERROR
        end subroutine
        subroutine MPIX_COMM_ISHRINK(COMM, NEWCOMM, REQUEST, IERROR)
          integer, intent(in) :: COMM
          integer, intent(inout), asynchronous :: NEWCOMM
          integer, intent(out) :: REQUEST, IERROR
        end subroutine
        subroutine MPIX_COMM_REFILL(COMM, NEWCOMM, IERROR)
          integer, intent(in) :: COMM
          integer, intent(out) :: NEWCOMM, IERROR
        end subroutine
      end interface
      integer MPIX_ERR_PROC_FAILED
      parameter (MPIX_ERR_PROC_FAILED=16128)
      integer MPIX_ERR_PROC_FAILED_PENDING
      parameter (MPIX_ERR_PROC_FAILED_PENDING=16129)
      integer MPIX_ERR_REVOKED
      parameter (MPIX_ERR_REVOKED=16130)
      integer MPIX_FT
      parameter (MPIX_FT=900)
      integer MPIX_SPARES
      parameter (MPIX_SPARES=901)
