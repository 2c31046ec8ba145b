// Command generate writes capi/lane_layout.h: the structures that Go and C share, as C has them.
// Run it with "go generate ./capi".
package main

import (
	"fmt"
	"os"

	"banyan/internal/runtime/lane"
)

func main() {
	if err := os.WriteFile("lane_layout.h", []byte(lane.Header()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
