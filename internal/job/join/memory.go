package join

import (
	"golang.org/x/sys/unix"

	"banyan/internal/runtime/process"
)

// buffersMemory is memory for the buffers of messages that the garbage collector doesn't know
// of: what one replica keeps for others grows as they drift apart, and would start it, in each process of
// the job, many times in its first moments. It costs nothing before it is used. The process has it until its end; nil if there
// is none to be had, which only costs time.
func buffersMemory() []byte {
	memory, err := unix.Mmap(-1, 0, process.MemorySize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return memory
}
