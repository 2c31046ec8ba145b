// Package join sets GOMAXPROCS. So the Go runtime needn't read the limits of the control group.

//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command capi is the C library, libmpi_abi.so.1: the standard ABI of MPI-5.0.
//
// It is built by make build, with -buildmode=c-shared. A call of a program goes
// through three layers:
//
//	entry.c (generated)     MPI_Send and PMPI_Send, in C
//	exports.go (generated)  banyan_Send, the Go function that C calls
//	package binding         what the function does, in Go without cgo
//
// Functions that need no Go are in native.h. The rest of the C here lets the Go runtime share a
// process with a C program, which keeps its signals, its children of fork and its
// streams: see docs/design/decisions/0017-c-library.md.
package main

/*
#cgo LDFLAGS: -Wl,-wrap=pthread_create
#cgo CFLAGS: -fexceptions -Wall -Wextra -Wno-unused-parameter -Wno-parentheses
#include "callsite.h"
#include "signals.h"
#include "streams.h"
*/
import "C"

import (
	"fmt"
	"os"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/join"
	"banyan/internal/mpi/binding"
	"banyan/internal/runtime/engine"
)

// process is the library's state in this operating-system process.
var process = binding.New(binding.Host{Join: joinJob, Flush: flush, Exit: exit, ThreadsLed: ledThreads, AtExit: atExit, Callbacks: callbacks{}, Locate: uintptr(C.banyan_last_words()), Controls: controls()})

func joinJob(heard func(engine.Event)) (binding.Job, error) {
	first, err := initialErrhandler()
	if err != nil {
		return nil, err
	}
	j, err := join.Join(join.Options{Lane: true, Heard: heard, Where: callerInC, Threads: threads{}})
	if err != nil {
		return nil, err
	}
	C.banyan_adopt_handlers()
	if C.banyan_sigaction_is_ours() == 0 {
		go adoptHandlers()
	}
	knowTypes()
	watchSafepoints(j.Engine)
	j.Engine.SetInput(stdio{})
	watchCallSites(j)
	openLane(j.Engine)
	openTime(j.Engine)
	if err := openClocks(j); err != nil {
		return nil, err
	}
	return member{j, first}, nil
}

// adoptEvery is how long a new handler of the program may run without the alternative stack,
// where the library can't see the program install it.
const adoptEvery = 50 * time.Millisecond

func adoptHandlers() {
	for {
		time.Sleep(adoptEvery)
		C.banyan_adopt_handlers()
	}
}

// member is a job as binding.Job.
type member struct {
	*join.Job
	first binding.Errhandler
}

func (m member) Engine() *engine.Engine { return m.Job.Engine }

func (m member) ErrhandlerName() string { return os.Getenv(env.InitialErrhandler) }

func (m member) InitialErrhandler() binding.Errhandler { return m.first }

// initialErrhandler is what the user of mpiexec has named.
func initialErrhandler() (binding.Errhandler, error) {
	name, err := env.ParseErrhandler(os.Getenv(env.InitialErrhandler))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", env.InitialErrhandler, err)
	}
	return map[string]binding.Errhandler{
		env.ErrorsAreFatal: binding.ErrorsAreFatal, env.ErrorsAbort: binding.ErrorsAbort, env.ErrorsReturn: binding.ErrorsReturn,
	}[name], nil
}

func (m member) Leave() error {
	forgetTypes()
	closeLane()
	closeTime()
	return m.Job.Leave()
}

func (m member) Abort(code int, why string) {
	C.banyan_flush()
	m.Job.Abort(code, why)
}

func exit(code int, why string) {
	C.banyan_flush()
	fmt.Fprintf(os.Stderr, "banyan: %s\n", why)
	os.Exit(code)
}

//export banyan_raised
func banyan_raised(code int32, fn, object *uintptr, err, after *int32) {
	f, o, e, a := process.Raised(binding.Code(code))
	*fn, *object, *err, *after = f, o, int32(e), int32(a)
}

func main() {} // never called
