package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"banyan/internal/study/field"
)

// ExitError asks for an exit code. Any other error exits with 2. Without Err nothing is printed.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error that is printed.
func (e *ExitError) Unwrap() error { return e.Err }

// Exit returns an *ExitError.
func Exit(code int, err error) error { return &ExitError{code, err} }

// Code returns the exit code that an error asks for, 0 for none, and what is to be printed.
func Code(err error) (int, error) {
	if err == nil {
		return 0, nil
	}
	if e := (*ExitError)(nil); errors.As(err, &e) {
		return e.Code, e.Err
	}
	return 2, err
}

// Failed returns the error of a command whose command line was right: it exits with 1.
func Failed(err error) error { return &ExitError{1, err} }

// Failedf is Failed with a formatted text.
func Failedf(format string, args ...any) error { return Failed(fmt.Errorf(format, args...)) }

// Stopped returns the error of a command that ran with a context of [Interruptible]:
// "interrupted", with exit code 1, if the context ended it.
func Stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return Failed(errors.New("interrupted"))
	}
	return err
}

// FlagError returns an error that names the flag where err is about a field. Flags have the names
// of fields, with hyphens for underscores, but for those in renamed.
func FlagError(err error, renamed map[string]string) error {
	var wrong *field.Error
	if !errors.As(err, &wrong) {
		return err
	}
	name, ok := renamed[wrong.Field]
	if !ok {
		name = strings.ReplaceAll(wrong.Field, "_", "-")
	}
	return fmt.Errorf("--%s: %w", name, wrong.Err)
}
