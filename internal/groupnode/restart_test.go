package groupnode

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/proto/founding"
)

// quickConfig is a testConfig with a short time-out, of a member whose end no kernel tells of.
func quickConfig(name string, d *viewLog, seeds ...string) Config {
	cfg := testConfig(name, d, seeds...)
	cfg.Period, cfg.Timeout, cfg.apart = 20*time.Millisecond, 400*time.Millisecond, true
	return cfg
}

// The first member ends, and is started again at the same address before the others have noticed.
// They send it to the first member of their view, which is itself.
func TestCoordinatorRestarted(t *testing.T) {
	t.Parallel()
	da, db, dc := newViewLog(), newViewLog(), newViewLog()
	cfg := quickConfig("a", da)
	a := testJoin(t, cfg)
	testJoin(t, quickConfig("b", db, a.Card().Address))
	testJoin(t, quickConfig("c", dc, a.Card().Address))
	old := dc.await(t, 3)
	da.await(t, 3)
	db.await(t, 3)
	a.Close()
	cfg.Listen, cfg.Seeds = a.Card().Address, []string{db.cardOf(t, "b").Address, dc.cardOf(t, "c").Address}
	again := testJoin(t, cfg)
	if v := db.await(t, 3); v.Number <= old.Number || v.Members[2] != again.Number() {
		t.Errorf("view %d of %v", v.Number, v.Members)
	}
}

// One of the seeds is of another group now, another one doesn't know the secret: their addresses
// were given anew. The process joins by the seed that is left.
func TestStaleSeeds(t *testing.T) {
	t.Parallel()
	jobs := testConfig("a", newViewLog())
	jobs.Group = "jobs"
	stranger := testConfig("a", newViewLog())
	stranger.Secret = []byte("it is another secret")
	other, alien := testJoin(t, jobs), testJoin(t, stranger)
	first := testConfig("a", newViewLog())
	first.Period = 20 * time.Millisecond
	a := testJoin(t, first)
	var up atomic.Bool
	host, port, _ := net.SplitHostPort(a.Card().Address)
	d := newViewLog()
	cfg := testConfig("b", d, other.Card().Address, alien.Card().Address, net.JoinHostPort("group.example", port))
	cfg.Period = 20 * time.Millisecond
	cfg.lookup = func(context.Context, string) ([]string, error) {
		defer up.Store(true)
		if !up.Load() {
			return []string{"127.0.0.77"}, nil // nobody listens there
		}
		return []string{host}, nil
	}
	b := testJoin(t, cfg)
	if v := d.await(t, 2); b.founding != a.founding {
		t.Errorf("view %v of another group", v)
	}
}

// A member whose disk takes longer than the time-out stays a member: its heartbeats go on.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	da, db, dc := newViewLog(), newViewLog(), newViewLog()
	first := quickConfig("a", da)
	first.Dir = filepath.Join(t.TempDir(), "a")
	a := testJoin(t, first)
	slow := quickConfig("b", db, a.Card().Address)
	slow.Dir = filepath.Join(t.TempDir(), "b")
	slow.slowDisk = func() { time.Sleep(slow.Timeout * 2) }
	testJoin(t, slow)
	da.await(t, 2)
	testJoin(t, quickConfig("c", dc, a.Card().Address))
	for _, d := range []*viewLog{da, db, dc} {
		if v := d.await(t, 3); v.Number != 3 {
			t.Errorf("view %d has the three: one was taken for dead meanwhile", v.Number)
		}
	}
}

// A member whose disk doesn't answer any more ends, and holds up the others no longer.
func TestDiskHangs(t *testing.T) {
	t.Parallel()
	da, dc := newViewLog(), newViewLog()
	a := testJoin(t, quickConfig("a", da))
	stuck := quickConfig("b", newViewLog(), a.Card().Address)
	stuck.Dir, stuck.diskStall = filepath.Join(t.TempDir(), "b"), time.Second
	var hangs atomic.Bool
	release := make(chan struct{})
	stuck.slowDisk = func() {
		if hangs.Load() {
			<-release
		}
	}
	b := testJoin(t, stuck)
	da.await(t, 2)
	hangs.Store(true)
	testJoin(t, quickConfig("c", dc, a.Card().Address))
	select {
	case <-b.over:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for its disk for ever")
	}
	if err := b.Err(); err == nil || !strings.Contains(err.Error(), "the disk doesn't answer") {
		t.Error(err)
	}
	v := dc.await(t, 2)
	if v.Has(b.Number()) {
		t.Errorf("the view has it: %v", v.Members)
	}
	if _, err := openMemory(stuck.Dir); err == nil {
		t.Error("the directory can be used while a write is under way")
	}
	close(release)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if mem, err := openMemory(stuck.Dir); err == nil {
			mem.close()
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// A process waits to be let in for so long that it takes the group for gone, and supports another
// process that is to found one. Then it is let in. It may not be a member of the one while the
// other counts on it: so it joins again, and doesn't fail.
func TestLetInTooLate(t *testing.T) {
	t.Parallel()
	da := newViewLog()
	member := quickConfig("m", da)
	member.Dir = filepath.Join(t.TempDir(), "m")
	var m *Member
	var once sync.Once
	member.slowDisk = func() {
		if m != nil { // it has the process in its next view, and is stopped
			once.Do(func() { m.post(func() { time.Sleep(3 * member.Timeout) }) })
		}
	}
	founded := testJoin(t, member)
	founded.post(func() { m = founded }) // before the next write

	// The other process, "a", stands for election from when the first one has heard of the member,
	// until that comes a second time.
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	node := founding.ID(newNonce())
	start := founding.Start{Node: node, Count: 1}
	state := founding.Candidate{Name: "a", Start: start, Expect: 3, Change: 5, Promise: founding.Promise{To: start, Round: 5}}
	var first Nonce
	stands := false
	go func() {
		for {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			acceptHandshake(conn, testSecret, nil, func(h *hello) (answer, error) {
				if first == (Nonce{}) {
					first = h.card.Nonce
				}
				stands = h.card.Nonce == first && (stands || h.state != nil && h.state.Exists)
				if !stands {
					return answer{verdict: later}, nil
				}
				return answer{verdict: looksToo, node: node, state: &state}, nil
			})
			conn.Close()
		}
	}()
	db := newViewLog()
	cfg := quickConfig("p", db, founded.Card().Address, socket.Addr().String())
	cfg.Expect = 3
	p := testJoin(t, cfg)
	if v := db.await(t, 2); p.Card().Nonce == first || v.Number < 3 {
		t.Errorf("it was let in by view %d, though another process counted on it", v.Number)
	}
}
