package hosts_test

import (
	"flag"
	"os"
	"testing"

	"banyan/internal/testing/hosts"
	"banyan/mpi"
)

func TestMain(m *testing.M) {
	if os.Getenv(roundsVariable) != "" {
		if os.Getenv(surviveVariable) != "" {
			mpi.Main(program, mpi.SurviveRankLoss())
		}
		mpi.Main(program)
	}
	if code, done := hosts.Reexec(); done {
		os.Exit(code)
	}
	flag.Parse()
	flag.Set("test.parallel", "6") // mostly they wait
	os.Exit(m.Run())
}
