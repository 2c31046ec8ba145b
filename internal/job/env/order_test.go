package env

import (
	"strings"
	"testing"
)

func TestParseOrder(t *testing.T) {
	for s, want := range map[string]Ordering{
		"": {}, OrderFree: {}, OrderLeader: {Leader: true}, OrderAuto: {Leader: true, Auto: true},
		"leader,clock": {Leader: true, Clocks: true},
	} {
		if o, err := ParseOrder(s); err != nil || o != want {
			t.Errorf("%q: %+v, %v", s, o, err)
		}
	}
	for _, s := range []string{"leader,", "auto,clock", "clock", "Leader", "free,auto"} {
		if _, err := ParseOrder(s); err == nil || !strings.Contains(err.Error(), "is no order") {
			t.Errorf("%q: %v", s, err)
		}
	}
}
