package shm

import (
	"reflect"

	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// Layout is what the C of a process must know to use the rings: the structures, each after those
// that it consists of, and the constants by name. Package lane makes C's header of it.
func Layout() (structures []reflect.Type, constants map[string]uint64) {
	return []reflect.Type{
			reflect.TypeFor[control](), reflect.TypeFor[half](), reflect.TypeFor[Writer](), reflect.TypeFor[Reader](),
			reflect.TypeFor[Ends](), reflect.TypeFor[short](),
		}, map[string]uint64{
			"LINE":       lineSize,
			"WINDOW":     window,
			"AHEAD":      ahead,
			"SHORT":      formShort,
			"SHORT_SIZE": shortSize,
			"EAGER":      uint64(wire.KindEager),
			"MOST":       transport.DirectSize,
			"TELL_SHARE": tellShare,
		}
}
