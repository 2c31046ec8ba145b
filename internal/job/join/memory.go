package join

import (
	"golang.org/x/sys/unix"

	"banyan/internal/runtime/process"
)

// buffersMemory is memory for the buffers of messages that the garbage collector doesn't know of.
// What one replica keeps for others grows as they drift apart. In the collector's memory it would
// start a collection many times in the first moments of each process of the job. Memory costs
// nothing before it is used, and this process has it until its end. It is nil if there is none to
// be had, which only costs time.
func buffersMemory() []byte {
	memory, err := unix.Mmap(-1, 0, process.MemorySize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return memory
}
