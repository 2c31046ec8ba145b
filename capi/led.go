package main

// MPI_Wtime in leader order: all replicas of a rank are told the same time.

/*
#include "led.h"
*/
import "C"

import "banyan/internal/runtime/engine"

// timeEngine is the engine that is asked for the time.
var timeEngine *engine.Engine

// openTime has C ask for the time, if a replica of this rank decides it.
func openTime(e *engine.Engine) {
	if e.Led() {
		timeEngine = e
		C.banyan_led = 1
	}
}

func closeTime() { C.banyan_led = 0 }

//export banyan_time
func banyan_time() float64 {
	return timeEngine.Time(func() float64 { return float64(C.banyan_clock()) })
}
