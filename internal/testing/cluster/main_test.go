package cluster_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"banyan/internal/testing/cluster"
)

var wanted = flag.Bool("cluster", false, "make two clusters, as root, and test jobs on them")

// idle are the clusters that no test has at the moment, of h0 to h3 each, with Slurm. There are
// two: most of what a test does is to wait until somebody is taken for dead.
var idle = make(chan *cluster.Cluster, 2)

// beside gives a test a cluster for itself. Another test may run at the same time, on the other
// one.
func beside(t *testing.T) *cluster.Cluster {
	t.Helper()
	t.Parallel()
	return alone(t)
}

// alone gives a test a cluster, and no other one runs: it measures, or needs all of the machine.
func alone(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := <-idle
	t.Cleanup(func() { idle <- c })
	return c
}

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
	// More tests at a time would wait for a cluster, for as long as their time limits run.
	if err := flag.Set("test.parallel", fmt.Sprint(cap(idle))); err != nil {
		fmt.Println(err)
		return 1
	}
	for k := range cap(idle) {
		c, err := cluster.Up(named(fmt.Sprint("test", k)), size, true)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		idle <- c
		defer func() {
			if err := c.Down(); err != nil {
				fmt.Println(err)
				code = 1
			}
		}()
	}
	return m.Run()
}
