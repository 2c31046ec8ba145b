package connection

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"banyan/internal/runtime/transport/mesh"
)

// A side that is accepted has as many processes as it should, each with a card that can be read,
// and says the same when it is passed on.
func FuzzSide(f *testing.F) {
	f.Add([]byte(goodSide), 2)
	f.Add([]byte(`{"failure":{"kind":"death","text":"it died"}}`), 1)
	f.Add([]byte(`{"cards":[{},{"rank":-1}]}`), 2)
	f.Add([]byte(`[]`), 0)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		var s, again side
		if json.Unmarshal(b, &s) != nil {
			return
		}
		_ = s.distinct("a", 1)
		if s.check(n) != nil {
			return
		}
		if len(s.Cards) != n {
			t.Errorf("%d cards, want %d", len(s.Cards), n)
		}
		for _, c := range s.Cards {
			if _, err := mesh.ParseCard(c.Card); err != nil {
				t.Error(err)
			}
		}
		passed, err := json.Marshal(&s)
		if err != nil || json.Unmarshal(passed, &again) != nil || again.check(n) != nil {
			t.Errorf("%s is passed on as %s: %v", b, passed, err)
		}
	})
}

// Empty cards don't make a leader take much more memory than they are long.
func TestEmptyCards(t *testing.T) {
	text := []byte(`{"cards":[{}` + strings.Repeat(",{}", 1<<20) + `]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var s side
	err := json.Unmarshal(text, &s)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than 65536 cards") {
		t.Errorf("a million cards: %v", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("they took %d bytes", took)
	}
}
