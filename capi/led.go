package main

// Leader order: all replicas of a rank are told the same time (MPI_Wtime), and an error that ends a
// replica in the middle of a call tells the program's line.

/*
#include "callsite.h"
#include "led.h"
#include "threads.h"
*/
import "C"

import (
	"banyan/internal/job/join"
	"banyan/internal/runtime/engine"
	runtime "banyan/internal/runtime/process"
)

// timeEngine is the engine that is asked for the time.
var timeEngine *engine.Engine

// openTime has C ask for the time, if a replica of this rank decides it.
func openTime(e *engine.Engine) {
	if e.Led() {
		timeEngine = e
		C.banyan_led = 1
		C.banyan_watch_caller()
	}
}

// callerInC is where the program, which isn't in Go, makes the present call; "" if that is unknown.
// It is called on the thread of that call.
func callerInC() string {
	if timeEngine == nil {
		return ""
	}
	return join.Line(make(callSites).present())
}

// threadInC names the program's thread that makes the present call, on that thread.
func threadInC() (id runtime.ThreadID, known bool) {
	name := C.banyan_thread()
	return runtime.ThreadID(name) - C.BANYAN_FIRST_THREAD, name != 0
}

func closeTime() { C.banyan_led = 0 }

//export banyan_time
func banyan_time() float64 {
	return timeEngine.Time(func() float64 { return float64(C.banyan_clock()) })
}
