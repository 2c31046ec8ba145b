package lane

import (
	"os"
	"testing"
)

func TestHeader(t *testing.T) {
	has, err := os.ReadFile("../../../capi/lane_layout.h")
	if err != nil {
		t.Fatal(err)
	}
	if string(has) != Header() {
		t.Error("capi/lane_layout.h is old: run go generate ./capi")
	}
}
