package cluster_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"banyan/internal/testing/cluster"
)

var wanted = flag.Bool("cluster", false, "make a cluster, as root, and test jobs on it")

// shared is the cluster of all tests: h0 to h3, with Slurm.
var shared *cluster.Cluster

// named is the name of a cluster of this process. Several checkouts may be tested on a machine.
func named(what string) string { return fmt.Sprint(what, "-", os.Getpid()) }

const size = 4

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) (code int) {
	flag.Parse()
	if !*wanted {
		fmt.Println("tests on a cluster are run by make test-cluster")
		return 0
	}
	var err error
	if shared, err = cluster.Up(named("test"), size, true); err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() {
		if err := shared.Down(); err != nil {
			fmt.Println(err)
			code = 1
		}
	}()
	return m.Run()
}
