package mpi_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// typesWay, in the environment, makes the test's executable a program whose ranks disagree about
// types.
const typesWay = "BANYAN_TEST_TYPES"

func init() {
	if _, is := os.LookupEnv(typesWay); is {
		mpi.Main(disagree)
	}
}

// disagree has rank 0 send what rank 1 receives as something else. Rank 1 doesn't use the type
// cell: it has to ask for the name.
func disagree(w *mpi.Comm) error {
	if w.Rank() == 0 {
		for _, n := range []int{1, 300, 50_000} { // a line of a ring, several, an offer
			if err := mpi.Send(w, make([]cell, n), 1, 0); err != nil {
				return err
			}
		}
		if _, err := mpi.Recv(w, []int{0}, 1, 0); err != nil {
			return err
		}
		return mpi.Send(w, []float64{1.5}, 1, 0)
	}
	for range 3 {
		_, err := mpi.Recv(w, make([]float64, 200_000), 0, 0)
		fmt.Println(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
	defer cancel()
	x := []float64{0}
	_, err := mpi.RecvContext(ctx, w, x, 0, 0)
	fmt.Println(strings.Split(err.Error(), ": it")[0])
	if err := mpi.Send(w, []int{1}, 0, 0); err != nil {
		return err
	}
	_, err = mpi.Recv(w, x, 0, 0)
	fmt.Println(x, err)
	return nil
}

// Types, their names and contexts are the same between processes, by each medium and with replicas.
func TestTypesBetweenProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mistake := "rank 1: Recv (peer 0, tag 0): the message has elements of type mpi_test.cell, and is received as float64"
	want := []string{mistake, mistake, mistake, "rank 1: Recv (peer 0, tag 0): context deadline exceeded", "[1.5] <nil>"}
	for name, c := range map[string]launcher.Config{
		"shared memory": {Replicas: 1},
		"TCP":           {Replicas: 1, Transport: "tcp"},
		"replicas":      {Replicas: 2},
		"leader order":  {Replicas: 2, Order: launcher.OrderLeader},
	} {
		var stdout, stderr bytes.Buffer
		c.Ranks, c.Limit, c.Program, c.Env = 2, 60*time.Second, self, append(os.Environ(), typesWay+"=1")
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(""), &stdout, &stderr
		if _, err := launcher.Run(c); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		if !slices.Equal(got, want) {
			t.Errorf("%s: it prints\n%s\n%s", name, stdout.String(), stderr.String())
		}
	}
}
