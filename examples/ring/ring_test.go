package main

import (
	"bytes"
	"io"
	"testing"

	"banyan/mpi"
)

func TestRing(t *testing.T) {
	for n, want := range map[int]string{
		1: "lap 1: the token is 0\nlap 2: the token is 0\n",
		2: "lap 1: the token is 1\nlap 2: the token is 2\n",
		5: "lap 1: the token is 10\nlap 2: the token is 20\n",
	} {
		var out bytes.Buffer
		err := mpi.Local(n, func(world *mpi.Comm) error {
			if world.Rank() == 0 {
				return run(world, &out, 2)
			}
			return run(world, io.Discard, 2)
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d ranks printed\n%s\nwant\n%s", n, out.String(), want)
		}
	}
}
