//go:build race

package lane

import (
	"runtime"
	"unsafe"
)

// acquired and released tell the race detector of the lock. It doesn't watch the word itself, which
// is in memory that Go hasn't allocated.
func (l *Lock) acquired() { runtime.RaceAcquire(unsafe.Pointer(l)) }
func (l *Lock) released() { runtime.RaceRelease(unsafe.Pointer(l)) }
