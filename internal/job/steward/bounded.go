package steward

import (
	"fmt"
	"time"
)

// patience is how long a file system may take when a job begins.
const patience = 15 * time.Second

// bounded does something with a file system, which may hang, and waits for it for a while. What
// succeeds later is undone, if it has to be.
func bounded[T any](path string, do func() (T, error), undo func(T)) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := do()
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-time.After(patience):
	}
	go func() {
		if o := <-done; o.err == nil && undo != nil {
			undo(o.result)
		}
	}()
	var none T
	return none, fmt.Errorf("the file system of %s hasn't answered for %v: look at its server, or name a directory on another one", path, patience)
}
