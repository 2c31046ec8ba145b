package env

import (
	"fmt"
	"os"
)

// FormatOutputFDs is the value of OutputFDs.
func FormatOutputFDs(stdout, stderr int) string { return fmt.Sprintf("%d,%d", stdout, stderr) }

// TakeOutputFDs reads OutputFDs and removes it from the environment, so that programs which this
// process starts don't take the descriptors for theirs. is says whether it was set.
func TakeOutputFDs() (fds [2]int, is bool, err error) {
	text := os.Getenv(OutputFDs)
	if text == "" {
		return fds, false, nil
	}
	if _, err := fmt.Sscanf(text, "%d,%d", &fds[0], &fds[1]); err != nil || fds[0] <= 2 || fds[1] <= 2 {
		return fds, false, fmt.Errorf("%s=%q: want two descriptors beyond 2", OutputFDs, text)
	}
	os.Unsetenv(OutputFDs)
	return fds, true, nil
}
