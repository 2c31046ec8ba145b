package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// errLocked says that another process has a lock.
var errLocked = errors.New("locked by another process")

const lockPause = 5 * time.Millisecond

// NextEpoch raises the number in a file, which is made if there is none, and returns the new one:
// at least floor, and higher than the one before. Of several processes each gets another one. It
// waits for others until ctx ends.
func NextEpoch(ctx context.Context, path string, floor uint64) (uint64, error) {
	lock, err := open(path + ".lock")
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	for err = tryLock(lock); errors.Is(err, errLocked); err = tryLock(lock) {
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%s: %w: %w", path, err, ctx.Err())
		case <-time.After(lockPause):
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%s: lock: %w", path, err)
	}
	last, err := readEpoch(path)
	if err != nil {
		return 0, err
	}
	next := max(last+1, floor)
	return next, write(path, fmt.Appendf(nil, "%d\n", next))
}

// readEpoch is 0 if there is no file. A file that has something else was not written here, or a
// disk has lost it: the number isn't known.
func readEpoch(path string) (uint64, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	line, whole := strings.CutSuffix(string(content), "\n")
	n, err := strconv.ParseUint(line, 10, 32)
	if err != nil || !whole {
		return 0, fmt.Errorf("%s: %.40q isn't an epoch: write one there that is higher than the last, and a newline", path, content)
	}
	return n, nil
}
