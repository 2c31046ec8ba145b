package cprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"banyan/internal/testing/scratch"
)

// sanitizer is what gcc checks the library's C and the programs with: nothing, unless SANITIZE says
// "address", as make asan does.
var sanitizer = os.Getenv("SANITIZE")

// keptDir is where the library is kept. One that is checked is another one.
func keptDir() string {
	if sanitizer == "" {
		return scratch.KeptDir
	}
	return scratch.KeptDir + "/" + sanitizer
}

// Sanitizes tells whether accesses of memory are checked.
func Sanitizes() bool { return sanitizer != "" }

// sanitized are the compiler flags of a program that is checked.
func sanitized() []string {
	if sanitizer == "" {
		return nil
	}
	return []string{"-g", "-fsanitize=" + sanitizer}
}

// preload has what checks come first in all programs, also in those that weren't compiled with it,
// such as Python. Go's runtime handles the signals, and what a program leaves at its end is its
// own.
func preload() error {
	if sanitizer == "" {
		return nil
	}
	out, err := exec.Command("gcc", "-print-file-name=libasan.so").Output()
	library := strings.TrimSpace(string(out))
	if err != nil || !filepath.IsAbs(library) {
		return fmt.Errorf("gcc has no AddressSanitizer: %q, %v", library, err)
	}
	const options = "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0:allow_user_segv_handler=1"
	if err := os.Setenv("ASAN_OPTIONS", options); err != nil {
		return err
	}
	return os.Setenv("LD_PRELOAD", library)
}
