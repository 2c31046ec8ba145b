package main

// Leader order: all replicas of a rank are told the same time (MPI_Wtime; clocks.c), and an error
// that ends a replica in the middle of a call tells the program's line.

/*
#include "callsite.h"
#include "clocks.h"
#include "led.h"
#include "threads.h"
*/
import "C"

import (
	"errors"
	"unsafe"

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

// threads are the program's threads that have names.
type threads struct{}

func (threads) Present() (id runtime.ThreadID, known bool) {
	name := C.banyan_thread()
	return runtime.ThreadID(name) - C.BANYAN_FIRST_THREAD, name != 0
}

func (threads) Living() []engine.LivingThread {
	var names, created []C.uint64_t
	n := C.size_t(16)
	for n > C.size_t(len(names)) { // others may begin meanwhile
		names, created = make([]C.uint64_t, n), make([]C.uint64_t, n)
		n = C.banyan_threads(&names[0], &created[0], n)
	}
	all := make([]engine.LivingThread, n)
	for i := range all {
		all[i] = engine.LivingThread{ID: runtime.ThreadID(names[i]) - C.BANYAN_FIRST_THREAD, Created: uint64(created[i])}
	}
	return all
}

func (threads) SetCreated(t engine.LivingThread) (known bool) {
	return C.banyan_thread_created(C.uint64_t(t.ID)+C.BANYAN_FIRST_THREAD, C.uint64_t(t.Created)) != 0
}

func closeTime() {
	C.banyan_led = 0
	C.banyan_close_clocks()
}

//export banyan_time
func banyan_time() float64 {
	return 1e-9 * float64(timeEngine.Clock(engine.WtimeClock, func() int64 { return int64(1e9 * float64(C.banyan_clock())) }))
}

// openClocks has C ask for what clocks tell, for random numbers and process ids, if a replica of
// this rank decides that (--order leader,clock).
func openClocks(j *join.Job) error {
	switch {
	case !j.LeadsClocks():
	case C.banyan_clocks_are_ours() == 0:
		return errors.New("with --order leader,clock the program's calls of clock_gettime have to come to this library, and they go to another one, which was loaded before it: link a program of Fortran again, with mpifort; load the library first where Python loads it late, with LD_PRELOAD=libmpi_abi.so.1")
	default:
		C.banyan_open_clocks()
	}
	return nil
}

func ledThreads() { C.banyan_clocks_of_threads() }

//export banyan_led_clock
func banyan_led_clock(clock int32) int64 {
	return timeEngine.Clock(engine.Clock(clock), func() int64 { return int64(C.banyan_own_clock(C.int(clock))) })
}

//export banyan_led_value
func banyan_led_value(own uint64) uint64 {
	return timeEngine.Value(func() uint64 { return own })
}

//export banyan_led_random
func banyan_led_random(bytes unsafe.Pointer, n uintptr) {
	timeEngine.Random(unsafe.Slice((*byte)(bytes), n))
}
