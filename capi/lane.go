package main

/*
#include "lane.h"
#include "lane_window.h"
*/
import "C"

import (
	"unsafe"

	"banyan/internal/mpi/binding"
	"banyan/internal/runtime/engine"
)

//go:generate go run ./generate

// laneEngine is the engine whose lock C takes.
var laneEngine *engine.Engine

// openLane lets C send and receive small messages, where the job allows it.
func openLane(e *engine.Engine) {
	if m := e.Lane(); m != nil {
		laneEngine = e
		C.banyan_lane_open(unsafe.Pointer(m))
	}
}

func closeLane() { C.banyan_lane_close() }

//export banyan_lane_released
func banyan_lane_released() { laneEngine.ReleaseLane() }

//export banyan_lane_await
func banyan_lane_await(count int32, requests *C.MPI_Request, how int32) {
	r := unsafe.Slice((*uint64)(unsafe.Pointer(requests)), count)
	switch how {
	case C.BANYAN_ALL:
		laneEngine.AwaitNoted(r)
	case C.BANYAN_ANY:
		laneEngine.AwaitAnyNoted(r)
	case C.BANYAN_TEST:
		laneEngine.TestNoted(r)
	case C.BANYAN_SERVE:
		laneEngine.ServeNoted(r)
	}
}

//export banyan_note_receive
func banyan_note_receive(buf unsafe.Pointer, count int64, datatype uintptr, source, tag int32, comm uintptr, request unsafe.Pointer) int32 {
	r, ok := process.NoteReceive(buf, count, binding.Datatype(datatype), source, tag, binding.Comm(comm))
	*(*binding.Request)(request) = r
	if ok {
		return 1
	}
	return 0
}

//export banyan_lane_rouse
func banyan_lane_rouse() { laneEngine.RouseNoted() }

//export banyan_window_nudge
func banyan_window_nudge(win C.MPI_Win) {
	process.NudgeWindow(binding.Win(uintptr(unsafe.Pointer(win))))
}
