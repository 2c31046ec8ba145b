package env

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"banyan/internal/proto"
)

func TestReplicas(t *testing.T) {
	for text, want := range map[string][]int{"3": {3, 3}, "1": {1}, "1,2,3": {1, 2, 3}} {
		if got := FormatReplicas(want); got != text {
			t.Errorf("%v is %q, want %q", want, got, text)
		}
		t.Setenv(Replicas, text)
		all, each, err := ReadReplicas()
		if err != nil || each == nil && all != want[0] || each != nil && !slices.Equal(each, want) {
			t.Errorf("%q is %d, %v, %v", text, all, each, err)
		}
	}
	t.Setenv(Replicas, "")
	if all, each, err := ReadReplicas(); all != 1 || each != nil || err != nil {
		t.Errorf("nothing is %d, %v, %v", all, each, err)
	}
	for _, text := range []string{"0", "-1", "x", "1,", "1,0", "1,9999999", ",", "1;2"} {
		t.Setenv(Replicas, text)
		if all, each, err := ReadReplicas(); err == nil {
			t.Errorf("%q is %d, %v", text, all, each)
		}
	}
}

func TestIncarnations(t *testing.T) {
	incarnations, gone := []proto.Incarnation{0, 2, 1}, []bool{true, false, true}
	text := FormatIncarnations(incarnations, gone)
	if text != "0d,2,1d" {
		t.Errorf("formatted as %q", text)
	}
	t.Setenv(Incarnations, text)
	gotIncarnations, gotGone, err := ReadIncarnations(3)
	if err != nil || !slices.Equal(gotIncarnations, incarnations) || !reflect.DeepEqual(gotGone, gone) {
		t.Errorf("read as %v, %v, %v", gotIncarnations, gotGone, err)
	}
	for _, text := range []string{"0d,2", "0,1,2,3", "0,1,", "0,-1,2", "d,1,2", "0,1,4294967295"} {
		t.Setenv(Incarnations, text)
		if got, _, err := ReadIncarnations(3); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	t.Setenv(Incarnations, "")
	if got, _, err := ReadIncarnations(3); got != nil || err != nil {
		t.Errorf("nothing is %v, %v", got, err)
	}
}

func TestOutputFDs(t *testing.T) {
	t.Setenv(OutputFDs, FormatFDs(5, 6))
	if fds, is, err := TakeOutputFDs(); fds != [2]int{5, 6} || !is || err != nil {
		t.Errorf("got %v, %v, %v", fds, is, err)
	}
	if _, set := os.LookupEnv(OutputFDs); set {
		t.Error("the variable is still there")
	}
	if _, is, err := TakeOutputFDs(); is || err != nil {
		t.Errorf("nothing is %v, %v", is, err)
	}
	for _, text := range []string{"5", "5,", "2,3", "x,y"} {
		t.Setenv(OutputFDs, text)
		if fds, _, err := TakeOutputFDs(); err == nil {
			t.Errorf("%q is %v", text, fds)
		}
	}
}

func TestEntry(t *testing.T) {
	if got := Entry(Cores, 3); got != "BANYAN_CORES=3" {
		t.Errorf("got %q", got)
	}
}

// The launcher must not hand its own variables down, and every variable is ours.
func TestSetByLauncher(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range SetByLauncher {
		if seen[name] || !strings.HasPrefix(name, "BANYAN_") {
			t.Errorf("%s is no variable, or is there twice", name)
		}
		seen[name] = true
	}
}
