package env

import "fmt"

// Values of InitialErrhandler, as the standard has them for mpiexec (MPI 4.1, section 11.8.4).
const (
	ErrorsAreFatal = "mpi_errors_are_fatal" // an error ends the job
	ErrorsAbort    = "mpi_errors_abort"     // it ends the communicator's processes
	ErrorsReturn   = "mpi_errors_return"    // the function returns it
)

// ParseErrhandler reads the value of InitialErrhandler. An empty text means ErrorsAreFatal.
func ParseErrhandler(text string) (string, error) {
	switch text {
	case "":
		return ErrorsAreFatal, nil
	case ErrorsAreFatal, ErrorsAbort, ErrorsReturn:
		return text, nil
	}
	return "", fmt.Errorf("%q is no error handler that a program can start with; there are %s, %s and %s", text, ErrorsAreFatal, ErrorsAbort, ErrorsReturn)
}
