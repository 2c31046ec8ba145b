package engine

import (
	"encoding/binary"
	"fmt"

	"banyan/internal/runtime/process"
	"banyan/internal/runtime/state"
)

// ExpectSafepoints says how many safe points the program passes in all, from its beginning to its
// end, for people who watch it. 0: it doesn't know.
func (e *Engine) ExpectSafepoints(total uint64) {
	e.lock()
	defer e.mu.Unlock()
	e.counted.expected = total
}

// pointsRegion has how many safe points a donor has passed, so that a replacement counts on from
// there.
const pointsRegion = "the library: how many safe points were passed"

func (e *Engine) savePoints() state.Region {
	passed := e.counted.safepoints
	if e.back != nil {
		passed = e.back.part.Passed()
	}
	return state.Bytes(pointsRegion, binary.LittleEndian.AppendUint64(nil, passed))
}

// restorePoints takes the count over. The lock isn't held.
func (e *Engine) restorePoints(b []byte) error {
	if len(b) != 8 {
		return fmt.Errorf("%d bytes, want 8", len(b))
	}
	e.tell(func(*process.Process) {
		passed := binary.LittleEndian.Uint64(b)
		if e.counted.safepoints = passed; e.back != nil {
			e.back.part.SetPassed(passed)
		}
	})
	return nil
}
