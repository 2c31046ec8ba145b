// Package field is the error for a wrong setting. It names the field, so that a command can name
// the flag, and a reader of tables the column.
package field

import "fmt"

// Error says which field is wrong, and why.
type Error struct {
	Field string // as the flag or the column is called
	Err   error
}

func (e *Error) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an *Error whose reason is a formatted text.
func Errorf(field, format string, args ...any) error {
	return &Error{field, fmt.Errorf(format, args...)}
}

// Wrap returns an *Error for a reason.
func Wrap(field string, err error) error { return &Error{field, err} }
