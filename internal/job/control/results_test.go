package control

import (
	"encoding/json"
	"testing"

	"banyan/internal/proto/thinning"
)

// Whatever the results, each line is within its limit, nothing is lost, and only the last message
// isn't opaque.
func TestWithResults(t *testing.T) {
	for _, size := range []int{0, 4, 8, 700, 4096} {
		var results []thinning.Result
		for i := range uint64(600) {
			results = append(results, thinning.Result{Context: ^i, Number: ^i, Data: make([]byte, size)})
		}
		var got int
		all := WithResults(Message{Type: Settled, Number: 1 << 63}, results)
		for i, m := range all {
			line, err := json.Marshal(m)
			if err != nil || len(line) >= maxLine || m.Opaque != (i < len(all)-1) || m.Number != 1<<63 {
				t.Fatalf("%d bytes each: message %d of %d: %d bytes, %v", size, i, len(all), len(line), err)
			}
			got += len(m.Results)
		}
		if got != len(results) {
			t.Errorf("%d bytes each: %d results of %d", size, got, len(results))
		}
	}
	if all := WithResults(Message{Type: Show}, nil); len(all) != 1 || all[0].Opaque {
		t.Error(all)
	}
}
