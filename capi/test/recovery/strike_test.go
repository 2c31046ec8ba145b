package recovery

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// strikesSafepoints are compiler flags that link strike.c into a program, so that it counts safe
// points.
func strikesSafepoints() []string {
	return []string{cprogram.Testdata("strike.c"), "-Wl,--wrap=PMPIX_Safepoint,--wrap=mpix_safepoint_"}
}

// strikesPauses are such flags of a program that pauses in each step.
func strikesPauses() []string {
	return []string{cprogram.Testdata("strike.c"), "-Wl,--wrap=usleep"}
}

// struck runs a job whose processes die as strike.c says, each death once. All must come.
func struck(t *testing.T, deaths []string, stdin io.Reader, args ...string) cprogram.Outcome {
	t.Helper()
	came := t.TempDir()
	t.Setenv("STRIKE", strings.Join(slices.Insert(slices.Clone(deaths), 0, came), " "))
	o := cprogram.RunOn(t, stdin, cprogram.Tool("banyan"), args...)
	t.Setenv("STRIKE", "")
	if files, err := os.ReadDir(came); err != nil || len(files) != len(deaths) {
		t.Errorf("%d of the deaths %v came, error %v: %v", len(files), deaths, err, o)
	}
	return o
}
