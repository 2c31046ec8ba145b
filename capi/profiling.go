//go:build profiling

package main

import (
	"fmt"
	"os"
	"runtime/pprof"
	"time"

	"banyan/internal/job/env"
)

// profileFor is how long a process is profiled, from its start.
const profileFor = 3 * time.Second

// A library that is built with the tag profiling writes a profile of each process to a file. Its
// name is that in BANYAN_CPUPROFILE with the process number. See scripts/profile.sh.
func init() {
	name := os.Getenv(env.CPUProfile)
	if name == "" {
		return
	}
	f, err := os.Create(fmt.Sprintf("%s.%d", name, os.Getpid()))
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "banyan: profile:", err)
		return
	}
	time.AfterFunc(profileFor, func() {
		pprof.StopCPUProfile()
		f.Close()
	})
}
