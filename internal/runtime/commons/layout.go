package commons

import (
	"reflect"

	"banyan/internal/proto/cells"
)

// Layout is what the C of a process must know to use the memory: the structures, each after those
// that it consists of, and the constants by name. Package lane makes C's header of it.
func Layout() (structures []reflect.Type, constants map[string]uint64) {
	return []reflect.Type{reflect.TypeFor[own](), reflect.TypeFor[line](), reflect.TypeFor[cells.Progress](), reflect.TypeFor[Part]()},
		map[string]uint64{
			"SLEEPERS_AT":  sleepersAt,
			"MEMBERS_AT":   membersAt,
			"MEMBER_SIZE":  memberSize,
			"DEPTH":        Depth,
			"INLINE":       Inline,
			"ROOM":         Room,
			"WHOLE":        Whole,
			"PARTS":        MaxSize,
			"FRESH":        cells.Fresh,
			"GIVEN":        cells.Given,
			"TAKEN":        cells.Taken,
			"NUMBER_SHIFT": cells.NumberShift,
			"NOTE_SHIFT":   cells.NoteShift,
			"SIZE_SHIFT":   sizeShift,
			"BARRIER":      uint64(Barrier),
			"BCAST":        uint64(Bcast),
			"ALLREDUCE":    uint64(Allreduce),
			"ALLGATHER":    uint64(Allgather),
			"ALLTOALL":     uint64(Alltoall),
			"AGREEMENT":    uint64(Agreement),
		}
}
