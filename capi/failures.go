package main

// Fault tolerance (ULFM): functions of mpi-ext.h, which the standard's table doesn't have. So the
// errors of NULL where a result is to be stored are here, not generated.

import "C"

import (
	"unsafe"

	"banyan/internal/mpi/binding"
)

func nullOf(function, argument string, comm uintptr) int32 {
	return int32(process.NullForComm(function, argument, binding.Comm(comm)))
}

//export banyan_CommRevoke
func banyan_CommRevoke(comm uintptr) int32 {
	return int32(process.CommRevoke(binding.Comm(comm)))
}

//export banyan_CommIsRevoked
func banyan_CommIsRevoked(comm uintptr, flag *int32) int32 {
	if flag == nil {
		return nullOf("MPIX_Comm_is_revoked", "flag", comm)
	}
	return int32(process.CommIsRevoked(binding.Comm(comm), flag))
}

//export banyan_CommGetFailed
func banyan_CommGetFailed(comm uintptr, failedgrp unsafe.Pointer) int32 {
	if failedgrp == nil {
		return nullOf("MPIX_Comm_get_failed", "failedgrp", comm)
	}
	return int32(process.CommGetFailed(binding.Comm(comm), (*binding.Group)(failedgrp)))
}

//export banyan_CommAckFailed
func banyan_CommAckFailed(comm uintptr, numToAck int32, numAcked *int32) int32 {
	if numAcked == nil {
		return nullOf("MPIX_Comm_ack_failed", "num_acked", comm)
	}
	return int32(process.CommAckFailed(binding.Comm(comm), numToAck, numAcked))
}

//export banyan_CommFailureAck
func banyan_CommFailureAck(comm uintptr) int32 {
	return int32(process.CommFailureAck(binding.Comm(comm)))
}

//export banyan_CommFailureGetAcked
func banyan_CommFailureGetAcked(comm uintptr, failedgrp unsafe.Pointer) int32 {
	if failedgrp == nil {
		return nullOf("MPIX_Comm_failure_get_acked", "failedgrp", comm)
	}
	return int32(process.CommFailureGetAcked(binding.Comm(comm), (*binding.Group)(failedgrp)))
}

//export banyan_CommAgree
func banyan_CommAgree(comm uintptr, flag *int32) int32 {
	if flag == nil {
		return nullOf("MPIX_Comm_agree", "flag", comm)
	}
	return int32(process.CommAgree(binding.Comm(comm), flag))
}

//export banyan_CommIagree
func banyan_CommIagree(comm uintptr, flag *int32, request unsafe.Pointer) int32 {
	if flag == nil {
		return nullOf("MPIX_Comm_iagree", "flag", comm)
	}
	if request == nil {
		return nullOf("MPIX_Comm_iagree", "request", comm)
	}
	return int32(process.CommIagree(binding.Comm(comm), flag, (*binding.Request)(request)))
}

//export banyan_CommAgreeFailed
func banyan_CommAgreeFailed(comm uintptr, failedgrp unsafe.Pointer) int32 {
	if failedgrp == nil {
		return nullOf("MPIX_Comm_agree_failed", "failedgrp", comm)
	}
	return int32(process.CommAgreeFailed(binding.Comm(comm), (*binding.Group)(failedgrp)))
}

//export banyan_CommShrink
func banyan_CommShrink(comm uintptr, newcomm unsafe.Pointer) int32 {
	if newcomm == nil {
		return nullOf("MPIX_Comm_shrink", "newcomm", comm)
	}
	return int32(process.CommShrink(binding.Comm(comm), (*binding.Comm)(newcomm)))
}

//export banyan_CommIshrink
func banyan_CommIshrink(comm uintptr, newcomm, request unsafe.Pointer) int32 {
	if newcomm == nil {
		return nullOf("MPIX_Comm_ishrink", "newcomm", comm)
	}
	if request == nil {
		return nullOf("MPIX_Comm_ishrink", "request", comm)
	}
	return int32(process.CommIshrink(binding.Comm(comm), (*binding.Comm)(newcomm), (*binding.Request)(request)))
}

//export banyan_CommIshrinkNumber
func banyan_CommIshrinkNumber(comm uintptr, newcomm *int32, request unsafe.Pointer) int32 {
	if newcomm == nil {
		return nullOf("MPIX_Comm_ishrink", "newcomm", comm)
	}
	if request == nil {
		return nullOf("MPIX_Comm_ishrink", "request", comm)
	}
	return int32(process.CommIshrinkNumber(binding.Comm(comm), newcomm, (*binding.Request)(request)))
}

//export banyan_CommRefill
func banyan_CommRefill(comm uintptr, newcomm unsafe.Pointer) int32 {
	if newcomm == nil {
		return nullOf("MPIX_Comm_refill", "newcomm", comm)
	}
	return int32(process.CommRefill(binding.Comm(comm), (*binding.Comm)(newcomm)))
}
