package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// dynamicWay, in the environment, makes the test's executable a program that spawns and connects.
const dynamicWay = "BANYAN_TEST_DYNAMIC"

func init() {
	switch os.Getenv(dynamicWay) {
	case "spawn":
		mpi.Main(spawns)
	case "refused":
		mpi.Main(refused)
	case "connect":
		mpi.Main(connects)
	case "ExampleComm_Spawn":
		ExampleComm_Spawn()
	case "ExampleComm_Accept":
		ExampleComm_Accept()
	}
}

// talk has all of a connection add up their ranks, and the first of each side greet the other.
func talk(c *mpi.Connection) error {
	sum := []int{c.Rank()}
	if err := mpi.Allreduce(c.Comm, sum, sum, mpi.Sum); err != nil {
		return err
	}
	first, ranks := c.Own()
	other, others := c.Other()
	if c.Rank() == first {
		request, err := mpi.Isend(c.Comm, []cell{{}}, other, 1)
		if err != nil {
			return err
		}
		if _, err := mpi.Recv(c.Comm, make([]cell, 1), other, 1); err != nil {
			return err
		}
		if _, err := request.Wait(); err != nil {
			return err
		}
		fmt.Printf("%d of %d ranks, from %d on; sum %d\n", ranks, ranks+others, first, sum[0])
	}
	return nil
}

// spawns has two ranks spawn three, which are this program, too.
func spawns(w *mpi.Comm) error {
	if p := w.Parent(); p != nil {
		defer p.Disconnect()
		return talk(p)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if _, err := w.Spawn([]mpi.Program{{Path: self + "-missing", Ranks: 1}}, 0); !errors.Is(err, mpi.ErrSpawn) {
		return fmt.Errorf("a missing program is spawned: %w", err)
	}
	if _, err := w.Spawn(nil, 2); !errors.Is(err, mpi.ErrRank) {
		return fmt.Errorf("a root that isn't there: %w", err)
	}
	c, err := w.Spawn([]mpi.Program{{Path: self, Ranks: 2}, {Path: self, Ranks: 1}}, 1)
	if err != nil {
		return err
	}
	defer c.Disconnect()
	return talk(c)
}

// refused says why a job with replicas spawns nothing.
func refused(w *mpi.Comm) error {
	_, err := w.Spawn([]mpi.Program{{Path: "true", Ranks: 1}}, 0)
	if w.Rank() == 0 {
		fmt.Println(errors.Is(err, mpi.ErrApart), strings.Contains(err.Error(), "replicas"))
	}
	return nil
}

// connects has the two halves of a job meet at a port, whose name one publishes.
func connects(w *mpi.Comm) error {
	const service = "two halves"
	accepts := w.Rank() < 2
	half, err := w.Split(w.Rank()/2, 0)
	if err != nil {
		return err
	}
	var port string
	if w.Rank() == 0 {
		if _, err := w.Lookup(service); !errors.Is(err, mpi.ErrName) {
			return fmt.Errorf("nothing is published: %w", err)
		}
		if port, err = w.OpenPort(); err != nil {
			return err
		}
		if err := w.Publish(service, port); err != nil {
			return err
		}
	}
	if err := w.Barrier(); err != nil {
		return err
	}
	var c *mpi.Connection
	if accepts {
		c, err = half.Accept(port, 0, time.Minute)
	} else {
		if port, err = w.Lookup(service); err == nil {
			c, err = half.Connect(port, 0, time.Minute)
		}
	}
	if err != nil {
		return err
	}
	if err := talk(c); err != nil {
		return err
	}
	if err := w.Barrier(); err != nil {
		return err
	}
	if w.Rank() == 0 {
		if err := errors.Join(w.Withdraw(service), w.ClosePort(port)); err != nil {
			return err
		}
		if _, err := half.Accept(port, 0, time.Minute); !errors.Is(err, mpi.ErrPort) {
			fmt.Println("a port that is closed:", err)
		}
	} else if w.Rank() == 1 {
		if _, err := half.Accept("", 0, time.Minute); !errors.Is(err, mpi.ErrPort) {
			fmt.Println("a port that is closed:", err)
		}
	}
	c.Disconnect()
	return nil
}

// Programs in Go spawn others and connect; jobs that can't say so.
func TestDynamic(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		way  string
		c    launcher.Config
		want []string
	}{
		{"spawn", launcher.Config{Ranks: 2, Replicas: 1, Label: true}, []string{"[0] 2 of 5 ranks, from 0 on; sum 10", "[1.0] 3 of 5 ranks, from 2 on; sum 10"}},
		{"spawn", launcher.Config{Ranks: 2, Replicas: 1, Transport: "tcp"}, []string{"2 of 5 ranks, from 0 on; sum 10", "3 of 5 ranks, from 2 on; sum 10"}},
		{"refused", launcher.Config{Ranks: 1, Replicas: 2}, []string{"true true"}},
		{"connect", launcher.Config{Ranks: 4, Replicas: 1}, []string{"2 of 4 ranks, from 0 on; sum 6", "2 of 4 ranks, from 2 on; sum 6"}},
		{"ExampleComm_Spawn", launcher.Config{Ranks: 2, Replicas: 1}, []string{"2 ranks of 5, from 0 on; sum 10", "3 ranks of 5, from 2 on; sum 10"}},
		{"ExampleComm_Accept", launcher.Config{Ranks: 4, Replicas: 1}, []string{"2 ranks of 4, from 0 on", "2 ranks of 4, from 2 on"}},
	} {
		var stdout, stderr bytes.Buffer
		c := x.c
		c.Limit, c.Program = 60*time.Second, self
		c.Env = append(os.Environ(), dynamicWay+"="+x.way, env.Names+"="+filepath.Join(t.TempDir(), "names"))
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(""), &stdout, &stderr
		r, err := launcher.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		slices.Sort(got)
		if !slices.Equal(got, x.want) || r.ExitCode != 0 {
			t.Errorf("%s: exit code %d, it prints\n%s\n%s", x.way, r.ExitCode, stdout.String(), stderr.String())
		}
	}
	if err := mpi.Local(1, func(w *mpi.Comm) error {
		_, err := w.OpenPort()
		return err
	}); !errors.Is(err, mpi.ErrApart) {
		t.Errorf("goroutines open a port: %v", err)
	}
}
