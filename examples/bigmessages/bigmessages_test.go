package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"banyan/mpi"
)

func TestBigMessages(t *testing.T) {
	o := options{large: 3, bytes: 1 << 20, small: 2500}
	for _, size := range []struct{ n, replicas int }{{1, 1}, {2, 1}, {3, 2}, {2, 3}} {
		t.Run(fmt.Sprintf("n=%d,replicas=%d", size.n, size.replicas), func(t *testing.T) {
			var mu sync.Mutex
			var all strings.Builder
			err := mpi.Local(size.n, func(world *mpi.Comm) error {
				var out bytes.Buffer
				err := run(world, &out, o)
				mu.Lock()
				defer mu.Unlock()
				all.Write(out.Bytes())
				return err
			}, mpi.WithReplicas(size.replicas))
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("%d messages of 1048576 bytes and %d numbered ones: all here, once, in order\n", 6*size.n, 2500*size.n)
			if want := strings.Repeat(line, size.replicas); all.String() != want {
				t.Errorf("printed\n%s\nwant\n%s", all.String(), want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	buffer := make([]byte, 1000)
	fill(buffer, 2, 7)
	if err := check(buffer, 2, 7); err != nil {
		t.Error(err)
	}
	for _, other := range [][2]int{{1, 7}, {2, 6}} {
		if check(buffer, other[0], other[1]) == nil {
			t.Errorf("message 7 of rank 2 passes for message %d of rank %d", other[1], other[0])
		}
	}
	buffer[999]++
	if err := check(buffer, 2, 7); err == nil || !strings.Contains(err.Error(), "byte 999") {
		t.Errorf("an altered byte: %v", err)
	}
}
