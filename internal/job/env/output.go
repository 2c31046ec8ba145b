package env

import (
	"fmt"
	"os"
	"strconv"
)

// FormatFDs is the value of OutputFDs (stdout, stderr) and of SnapshotFDs.
func FormatFDs(first, second int) string { return fmt.Sprintf("%d,%d", first, second) }

// TakeOutputFDs reads OutputFDs and removes it from the environment. is says whether it was set.
func TakeOutputFDs() (fds [2]int, is bool, err error) { return takeFDs(OutputFDs) }

// TakeCountersFD reads CountersFD and removes it from the environment. is says whether it was set.
func TakeCountersFD() (fd int, is bool, err error) {
	text := os.Getenv(CountersFD)
	if text == "" {
		return 0, false, nil
	}
	if fd, err = strconv.Atoi(text); err != nil || fd <= 2 {
		return 0, false, fmt.Errorf("%s=%q: want a descriptor beyond 2", CountersFD, text)
	}
	os.Unsetenv(CountersFD)
	return fd, true, nil
}

// takeFDs reads two descriptors and removes their variable from the environment, so that programs
// which this process starts don't take them for theirs.
func takeFDs(name string) (fds [2]int, is bool, err error) {
	text := os.Getenv(name)
	if text == "" {
		return fds, false, nil
	}
	if _, err := fmt.Sscanf(text, "%d,%d", &fds[0], &fds[1]); err != nil || fds[0] <= 2 || fds[1] <= 2 {
		return fds, false, fmt.Errorf("%s=%q: want two descriptors beyond 2", name, text)
	}
	os.Unsetenv(name)
	return fds, true, nil
}
