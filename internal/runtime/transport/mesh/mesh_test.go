package mesh

import (
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/proto"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/transport/transporttest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		child(role)
		return
	}
	goleak.VerifyTestMain(m)
}

// cards is where the processes of a test publish their cards.
type cards []Card

// publishing guards them.
var publishing sync.Mutex

func (c cards) publish(p int, card Card) {
	publishing.Lock()
	defer publishing.Unlock()
	c[p] = card
}

func (c cards) resolve(p proto.Proc) (Card, error) {
	publishing.Lock()
	defer publishing.Unlock()
	if c[p].Addr == "" {
		return Card{}, fmt.Errorf("%v has published no card", p)
	}
	return c[p], nil
}

// newTransports opens the ends of a job of n, all in this process, and closes
// them at the end of t.
func newTransports(t testing.TB, n int, change func(*Config)) []*Transport {
	transports, _ := newReplaceable(t, n, change)
	return transports
}

// newReplaceable is newTransports, with a function that replaces a process by another one.
// Processes have different incarnations, or all 0 where change says so.
func newReplaceable(t testing.TB, n int, change func(*Config)) ([]*Transport, func(p proto.Proc) *Transport) {
	secret := make([]byte, 32)
	rand.Read(secret)
	published := make(cards, n)
	transports := make([]*Transport, n)
	incarnations := make([]proto.Incarnation, n)
	for p := range incarnations {
		incarnations[p] = proto.Incarnation(p)
	}
	open := func(p int) *Transport {
		cfg := Config{Self: proto.Proc(p), N: n, Job: [16]byte{1}, Secret: secret, Incarnation: incarnations[p], Incarnations: incarnations, Resolve: published.resolve}
		if change != nil {
			change(&cfg)
		}
		tr, err := Listen(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		})
		return tr
	}
	for p := range transports {
		transports[p] = open(p)
	}
	for p, tr := range transports {
		published.publish(p, tr.Card())
	}
	return transports, func(p proto.Proc) *Transport {
		incarnations[p]++
		tr := open(int(p))
		published.publish(int(p), tr.Card())
		return tr
	}
}

// jobOver makes jobs whose frames use certain media.
func jobOver(media Media) transporttest.Factory {
	return func(t *testing.T, n int) *transporttest.Job { return newJob(t, n, media) }
}

func newJob(t *testing.T, n int, media Media) *transporttest.Job {
	return newJobOf(t, n, func(c *Config) { c.Media = media })
}

func newJobOf(t *testing.T, n int, change func(*Config)) *transporttest.Job {
	transports, replace := newReplaceable(t, n, change)
	job := &transporttest.Job{
		Crash: func(p proto.Proc) { transports[p].Close() },
		Replace: func(p proto.Proc) (transport.Transport, proto.Incarnation) {
			transports[p] = replace(p)
			return transports[p], transports[p].Card().Incarnation
		},
		// All are in one process, which lives on.
		Ended: transport.EvidenceLost,
	}
	for _, tr := range transports {
		job.Procs = append(job.Procs, tr)
	}
	return job
}

// all are the media by which the tests run.
var all = []struct {
	name  string
	media Media
}{{"tcp", Sockets}, {"shm", SharedMemory}}

func TestConformance(t *testing.T) {
	before := openFiles(t)
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) { transporttest.Run(t, jobOver(m.media)) })
	}
	// Some processes only use TCP.
	t.Run("mixed", func(t *testing.T) {
		transporttest.Run(t, func(t *testing.T, n int) *transporttest.Job {
			return newJobOf(t, n, func(c *Config) { c.Media = []Media{Any, Any, Sockets}[c.Self%3] })
		})
	})
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// dozer is a transport whose owner always waits by Doze.
type dozer struct{ *Transport }

func (d dozer) Wait(limit time.Duration) { d.Doze(limit) }

func TestConformanceDozing(t *testing.T) {
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T, n int) *transporttest.Job {
				job := newJob(t, n, m.media)
				for i, tr := range job.Procs {
					job.Procs[i] = dozer{tr.(*Transport)}
				}
				return job
			})
		})
	}
}

// openFiles is how many descriptors this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
