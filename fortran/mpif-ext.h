! mpif-ext.h: mpi-ext.h for Fortran, right in fixed and in free form;
! include it where mpif.h is included, or mpi is used. RESTORED is 1 in
! the first call of a process that takes a dead one's place, else 0.
! ADDRESS is a target, so that compilers know that a safe point may change it.
! Under another MPI compile Banyan's mpi-ext.c with the program.
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
      end interface
