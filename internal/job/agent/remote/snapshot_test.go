package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
	"banyan/internal/proto"
)

// keepingAgent is an agent of another host that keeps snapshots, and what ends it.
func keepingAgent(t *testing.T) (r *Remote, local *agent.Local, end func()) {
	t.Helper()
	key := secure.NewKey()
	l, err := Listen("127.0.0.1:0", key, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if local, err = agent.NewLocal(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		Serve(ctx, Config{Addresses: l.Addresses(), Number: 0, Key: key, Agent: local})
	}()
	t.Cleanup(func() { cancel(); <-served; l.Close() })
	if r, err = l.Expect(soon(t), 0); err != nil {
		t.Fatal(err)
	}
	return r, local, cancel
}

// TestPartsTravel writes parts to another host's agent and reads them again, several at a time.
func TestPartsTravel(t *testing.T) {
	r, _, _ := keepingAgent(t)
	lots := rand.New(rand.NewPCG(1, 0))
	part := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(lots.Uint32())
		}
		return b
	}
	parts := [][]byte{part(0), part(1), part(100_000), part(5 << 20)}
	done := make(chan error, len(parts))
	for i, want := range parts {
		go func() { done <- write(r, i, want) }()
	}
	for range parts {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := write(r, 3, parts[2]); err != nil { // a shorter one in its place
		t.Fatal(err)
	}
	parts[3] = parts[2]
	for i, want := range parts {
		from, err := r.ReadPart(proto.Proc(i), i%2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(from); err != nil || !bytes.Equal(got, want) {
			t.Errorf("part %d: %d bytes, want %d, %v", i, len(got), len(want), err)
		}
		from.Close()
	}
}

// TestChangedBlocksTravel changes a part of another host's agent by the blocks that differ.
func TestChangedBlocksTravel(t *testing.T) {
	r, local, _ := keepingAgent(t)
	b := make([]byte, 1<<20)
	if err := write(r, 0, b); err != nil {
		t.Fatal(err)
	}
	had, err := r.PartDigests(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	b[300_000], b[900_000] = 1, 2
	here, err := agent.NewLocal()
	if err != nil {
		t.Fatal(err)
	}
	own, err := here.WritePart(0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	own.Write(b)
	has, err := here.PartDigests(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	changed := has.Changes(had)
	if n := changed.Bytes(); n != 2*64<<10 {
		t.Errorf("%d bytes differ", n)
	}
	to, err := r.WritePart(0, 0, changed)
	if err != nil {
		t.Fatal(err)
	}
	from, err := here.ReadPart(0, 0, changed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if now, err := local.PartDigests(0, 0); err != nil || !now.Equal(has) {
		t.Error("the copy differs", err)
	}
	some, err := r.ReadPart(0, 0, changed)
	if err != nil {
		t.Fatal(err)
	}
	defer some.Close()
	if got, err := io.ReadAll(some); err != nil || len(got) != 2*64<<10 || bytes.Count(got, []byte{0}) != len(got)-2 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func write(r *Remote, i int, b []byte) error {
	to, err := r.WritePart(proto.Proc(i), i%2, nil)
	if err != nil {
		return err
	}
	_, err = to.Write(b)
	return errors.Join(err, to.Close())
}

// TestPartsOfLostHosts ends the agent while a part is on its way.
func TestPartsOfLostHosts(t *testing.T) {
	r, _, end := keepingAgent(t)
	to, err := r.WritePart(0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	end()
	<-r.Lost()
	if err := to.Close(); err == nil {
		t.Error("a part of a lost host was written")
	}
	if from, err := r.ReadPart(0, 0, nil); err == nil {
		if _, err = io.ReadAll(from); err == nil {
			t.Error("a part of a lost host was read")
		}
	}
}
