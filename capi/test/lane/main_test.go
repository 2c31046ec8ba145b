// Package lane tests what C does by itself, without entering Go: messages, small collectives,
// windows, and cancelled sends. Programs must do the same with the lane open and closed, and models
// of the C run under ThreadSanitizer.
package lane

import (
	"os"
	"testing"

	"banyan/internal/testing/cprogram"
)

func TestMain(m *testing.M) { os.Exit(cprogram.Main(m)) }
