package mpiexec

import (
	"strings"
	"testing"
)

func TestSlots(t *testing.T) {
	for list, want := range map[string]int{"localhost": 1, "localhost:4": 4, "vm,vm.site:2,127.0.0.1:3": 6, "::1": 1, "[::1]:2": 2} {
		if n, err := Slots(list, "vm.site"); err != nil || n != want {
			t.Errorf("%q: %d, %v", list, n, err)
		}
	}
	for list, want := range map[string]string{"": "empty", "vm,": "empty", "far": "isn't this machine", "10.0.0.1": "isn't this machine", "vm:0": "from 1", "vm:x": "from 1"} {
		if _, err := Slots(list, "vm"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestFileSlots(t *testing.T) {
	if n, err := FileSlots(strings.NewReader("# hosts\nvm slots=3 max-slots=4\n\nlocalhost:2 # here\nvm\n"), "vm"); err != nil || n != 6 {
		t.Error(n, err)
	}
	for text, want := range map[string]string{"": "no hosts", "vm\nfar\n": "line 2", "vm slots=many": "line 1"} {
		if _, err := FileSlots(strings.NewReader(text), "vm"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
