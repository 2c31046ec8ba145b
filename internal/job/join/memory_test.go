package join

import (
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/runtime/process"
)

// The memory for buffers has the size that a process can use.
func TestBuffersMemory(t *testing.T) {
	memory := buffersMemory()
	if len(memory) != process.MemorySize {
		t.Fatalf("%d bytes", len(memory))
	}
	memory[0], memory[len(memory)-1] = 1, 1
	if err := unix.Munmap(memory); err != nil {
		t.Error(err)
	}
}
