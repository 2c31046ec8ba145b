package mpi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// ledWay, in the environment, makes the test's executable a program whose messages depend on its
// process ids, random numbers and clocks.
const ledWay = "BANYAN_TEST_LED"

func init() {
	if _, is := os.LookupEnv(ledWay); is {
		mpi.Main(gambles)
	}
}

// gambles has each rank send its right neighbour as many messages as a random number says, and
// prints what rank 0 has seen.
func gambles(world *mpi.Comm) error {
	rank, size := world.Rank(), world.Size()
	right, left := (rank+1)%size, (rank+size-1)%size
	seen := world.Decide(func() uint64 { return uint64(os.Getpid()) })
	for range 30 {
		zero := world.Decide(func() uint64 { return 0 })
		seen = seen*31 + zero + world.Decide(rand.Uint64) + world.Decide(func() uint64 { return uint64(time.Now().UnixNano()) })
		seen += uint64(world.Now().UnixNano()) + uint64(world.Wtime()*1e9)
		if world.Wtime() < 0 {
			return fmt.Errorf("the time is %v", world.Wtime())
		}
		times := seen % 4
		for i := range times + 1 { // the last one says so
			if err := mpi.Send(world, []uint64{seen, times - i}, right, 1); err != nil {
				return err
			}
		}
		for in := []uint64{0, 1}; in[1] > 0; {
			if _, err := mpi.Recv(world, in, left, 1); err != nil {
				return err
			}
			seen += in[0]
		}
	}
	if rank == 0 {
		fmt.Printf("seen %x\n", seen)
	}
	return nil
}

// What replicas ask a leader for is the same in all of them, also when leaders die.
func TestDecide(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{launcher.OrderLeader, launcher.OrderAuto} {
		plan, err := fault.Parse("random count=2 within=send:40 seed=1 action=kill")
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		r, err := launcher.Run(launcher.Config{
			Ranks: 3, Replicas: 2, Order: order, Verify: true, Faults: plan, Program: program,
			Env: append(os.Environ(), ledWay+"=1"), Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Limit: time.Minute,
		})
		if err != nil || r.ExitCode != 0 || strings.Count(stdout.String(), "seen ") != 1 || strings.Contains(stderr.String(), "differ") {
			t.Errorf("%s: %v %+v\n%s\n%s", order, err, r, stdout.String(), stderr.String())
		}
		if said := "asks what a value is (called at led_test.go:"; strings.Contains(stderr.String(), said) != (order == launcher.OrderAuto) {
			t.Errorf("%s: the launcher says %q", order, stderr.String())
		}
	}
}
