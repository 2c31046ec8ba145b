package sim

import (
	"fmt"
	"io"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/trace"
)

// flagError names the flag where an error names a column of a table of broadcasts.
func flagError(err error) error {
	return cli.FlagError(err, map[string]string{"L": "latency", "o": "overhead", "crashes": "crash"})
}

// writeTrace writes the trace of a simulation, for --trace.
func writeTrace(path string, header trace.Header, simulate func(*trace.Writer) error) error {
	var failed error // of the simulation
	err := cli.WriteFile(path, func(w io.Writer) error {
		t := trace.NewWriter(w, header)
		if failed = simulate(t); failed != nil {
			return failed
		}
		return t.Flush()
	})
	if err != nil && failed == nil {
		return fmt.Errorf("--trace: %w", err)
	}
	return err
}
