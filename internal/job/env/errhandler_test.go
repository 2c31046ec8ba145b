package env

import "testing"

func TestParseErrhandler(t *testing.T) {
	for text, want := range map[string]string{"": ErrorsAreFatal, "mpi_errors_return": ErrorsReturn, "mpi_errors_abort": ErrorsAbort} {
		if got, err := ParseErrhandler(text); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"MPI_ERRORS_RETURN", "return", " "} {
		if got, err := ParseErrhandler(text); err == nil {
			t.Errorf("%q is %q", text, got)
		}
	}
}
