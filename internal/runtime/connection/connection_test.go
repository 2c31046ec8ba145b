package connection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"banyan/internal/job/port"
	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
	"banyan/internal/runtime/transport/mesh"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// member is a process of a group whose processes are goroutines. Rank 0 leads.
type member struct {
	rank    int
	said    []chan []byte // what the leader says, for each
	replies []chan []byte // what each says
}

func (m *member) Rank() int   { return m.rank }
func (m *member) Size() int   { return len(m.said) }
func (m *member) Leads() bool { return m.rank == 0 }

func (m *member) Spread(own []byte) ([]byte, error) {
	if !m.Leads() {
		return <-m.said[m.rank], nil
	}
	for _, c := range m.said[1:] {
		c <- own
	}
	return own, nil
}

func (m *member) Collect(own []byte) (all [][]byte, err error) {
	m.replies[m.rank] <- own
	if m.Leads() {
		for _, c := range m.replies {
			all = append(all, <-c)
		}
	}
	return all, nil
}

// brittle is a line that breaks before a step.
type brittle struct {
	Line
	left int
}

func (b *brittle) Exchange(own, theirs any, limit time.Duration) error {
	if b.left--; b.left < 0 {
		b.Close()
	}
	return b.Line.Exchange(own, theirs, limit)
}

// result is what a process has got.
type result struct {
	*Connection
	err error
}

// connectAll has two groups connect. change is called with each process's configuration: its
// group, 0 for those that accept, and its rank there.
func connectAll(t *testing.T, sizes [2]int, lines [2]Line, change func(group, rank int, c *Config)) (all [2][]result) {
	t.Helper()
	return connectGroups(t, sizes, lines, change, func(_ int, m *member) Group { return m })
}

// connectGroups is the same with other groups: as makes them of a process's group and member.
func connectGroups(t *testing.T, sizes [2]int, lines [2]Line, change func(group, rank int, c *Config), as func(group int, m *member) Group) (all [2][]result) {
	t.Helper()
	var making sync.WaitGroup
	for g, n := range sizes {
		all[g] = make([]result, n)
		said, replies := make([]chan []byte, n), make([]chan []byte, n)
		for i := range n {
			said[i], replies[i] = make(chan []byte, 1), make(chan []byte, 1)
		}
		for i := range n {
			c := Config{
				Self: Member{fmt.Sprintf("job %d", g), proto.Rank(i)}, Ranks: n, OneHost: true, Media: mesh.Sockets,
				Period: 20 * time.Millisecond, Timeout: 400 * time.Millisecond,
				Address: func(bool) (string, error) { return "127.0.0.1", nil },
				Settle:  func(time.Duration) time.Duration { return time.Second },
				Reach:   func(time.Duration) time.Duration { return 5 * time.Second },
				Crowd:   func(int) (int, error) { return 1, nil },
				Starved: func(proto.Proc, mesh.Card, []int32, func(proto.Proc) (mesh.Card, error)) func(proto.Proc) bool {
					return nil
				},
				Aborted: func(int) {}, Logger: slog.New(slog.DiscardHandler),
			}
			if change != nil {
				change(g, i, &c)
			}
			making.Go(func() {
				made, err := Make(c, as(g, &member{i, said, replies}), g == 0, func() (Line, error) { return lines[g], nil })
				all[g][i] = result{made, err}
			})
		}
	}
	done := make(chan bool)
	go func() { making.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		panic("some process still waits")
	}
	return all
}

func lines() [2]Line {
	a, b := net.Pipe()
	return [2]Line{port.NewLine(a), port.NewLine(b)}
}

const context = 2

// finish has all leave that have come so far.
func finish(t *testing.T, all [2][]result) {
	t.Helper()
	var ending sync.WaitGroup
	for _, side := range all {
		for _, r := range side {
			if r.Connection != nil {
				ending.Go(func() {
					if err := r.Finish(); err != nil || !r.Ended() {
						t.Errorf("rank %d leaves: %v", r.Rank(), err)
					}
				})
			}
		}
	}
	ending.Wait()
}

// Two jobs connect: all have the same numbers, and messages go from each to each.
func TestConnect(t *testing.T) {
	all := connectAll(t, [2]int{2, 3}, lines(), nil)
	var talking sync.WaitGroup
	for g, side := range all {
		for i, r := range side {
			if r.err != nil {
				t.Fatal(r.err)
			}
			if own := 2*g + i; r.Rank() != own || r.First != 2 || len(r.Members) != 5 || r.Members[own] != (Member{fmt.Sprintf("job %d", g), proto.Rank(i)}) || r.Ended() {
				t.Errorf("process %d of group %d is rank %d of %v, of which %d accept", i, g, r.Rank(), r.Members, r.First)
			}
			if err := r.Engine.OpenContext(context, []proto.Rank{0, 1, 2, 3, 4}, false); err != nil {
				t.Fatal(err)
			}
			talking.Go(func() {
				for to := range proto.Rank(5) {
					if int(to) != r.Rank() {
						if err := r.Engine.SendWait(context, to, 0, []byte{byte(r.Rank())}); err != nil {
							t.Error(err)
						}
					}
				}
				for from := range proto.Rank(5) {
					var b [1]byte
					if int(from) != r.Rank() {
						if _, err := r.Engine.ReceiveWait(context, from, 0, b[:]); err != nil || b[0] != byte(from) {
							t.Errorf("rank %d hears %d from %d: %v", r.Rank(), b[0], from, err)
						}
					}
				}
			})
		}
	}
	talking.Wait()
	finish(t, all)
}

// If a process can't listen, all of both groups hear why.
func TestOneCannot(t *testing.T) {
	for group := range 2 {
		all := connectAll(t, [2]int{2, 2}, lines(), func(g, rank int, c *Config) {
			if g == group && rank == 1 {
				c.Address = func(bool) (string, error) { return "", errors.New("no network") }
			}
		})
		for _, r := range append(all[0], all[1]...) {
			if f := (*Failure)(nil); !errors.As(r.err, &f) || f.Kind != NoSystem || !strings.Contains(f.Text, "rank 1 of a group can't connect: no network") {
				t.Errorf("group %d: %v", group, r.err)
			}
		}
	}
}

// mourning is a group whose leader finds that a member has died.
type mourning struct {
	*member
	died *process.LostError
}

func (m mourning) Collect(own []byte) ([][]byte, error) {
	all, err := m.member.Collect(own)
	if m.Leads() {
		err = fmt.Errorf("collecting: %w", m.died)
	}
	return all, err
}

// If a member dies its group hears which one, and the other one only that somebody did.
func TestOneDies(t *testing.T) {
	for group := range 2 {
		all := connectGroups(t, [2]int{2, 2}, lines(), nil, func(g int, m *member) Group {
			if g != group {
				return m
			}
			return mourning{m, &process.LostError{Rank: 7}}
		})
		for g, side := range all {
			for _, r := range side {
				f, lost := (*Failure)(nil), (*process.LostError)(nil)
				own := errors.As(r.err, &lost) && lost.Rank == 7
				if !errors.As(r.err, &f) || own != (g == group) || (f.Kind == PeerDied) == own {
					t.Errorf("group %d of which %d mourns: %v", g, group, r.err)
				}
			}
		}
	}
}

// The line of the leaders breaks before a step: both groups get an error, and nobody waits.
func TestLineBreaks(t *testing.T) {
	for step := range 2 {
		for group := range 2 {
			l := lines()
			l[group] = &brittle{l[group], step}
			all := connectAll(t, [2]int{2, 2}, l, nil)
			for _, r := range append(all[0], all[1]...) {
				if f := (*Failure)(nil); !errors.As(r.err, &f) || f.Kind != PeerDied {
					t.Errorf("step %d, group %d: %v", step, group, r.err)
				}
			}
		}
	}
}

// A process fails when all cards are known: the others have engines, and learn that it is dead.
func TestOneNeverJoins(t *testing.T) {
	all := connectAll(t, [2]int{1, 2}, lines(), func(g, rank int, c *Config) {
		if g == 1 && rank == 1 {
			c.Crowd = func(int) (int, error) { return 0, errors.New("it gives up") }
		}
	})
	if all[1][1].err == nil {
		t.Fatal("it hasn't given up")
	}
	var waiting sync.WaitGroup
	for _, r := range []result{all[0][0], all[1][0]} {
		if r.err != nil {
			t.Fatal(r.err)
		}
		waiting.Go(func() {
			if err := r.Engine.OpenContext(context, []proto.Rank{0, 1, 2}, false); err != nil {
				t.Error(err)
			}
			_, err := r.Engine.ReceiveWait(context, 2, 0, make([]byte, 1))
			if lost := (*process.LostError)(nil); !errors.As(err, &lost) || lost.Rank != 2 {
				t.Errorf("rank %d hears from a process that never joined: %v", r.Rank(), err)
			}
		})
	}
	waiting.Wait()
	finish(t, all)
}

// said is a line whose other end says one thing for each step.
type said []string

func (s *said) Exchange(own, theirs any, _ time.Duration) error {
	next := (*s)[0]
	*s = (*s)[1:]
	return json.Unmarshal([]byte(next), theirs)
}
func (s *said) Close() error { return nil }

const (
	goodSecret = `"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`
	goodTerms  = `{"version":1,"size":2,"media":1,"sealing":0,"period":1000000,"timeout":2000000,"host":"h","secret":` + goodSecret + `}`
	goodSide   = `{"cards":[{"job":"a","rank":0,"card":"2,node/12,127.0.0.1:80,5,6,7,"},{"job":"a","rank":1,"card":"2,node/12,127.0.0.1:81,6,6,7,"}]}`
)

// What the other leader says is refused with an error at all processes, if it makes no sense.
func TestNonsense(t *testing.T) {
	for _, x := range []struct{ terms, side, want string }{
		{`null`, ``, "speaks version 0"},
		{`7`, ``, "cannot unmarshal"},
		{strings.Replace(goodTerms, `"size":2`, `"size":0`, 1), ``, "it is 0 processes"},
		{strings.Replace(goodTerms, `"size":2`, `"size":-1`, 1), ``, "it is -1 processes"},
		{strings.Replace(goodTerms, `"size":2`, `"size":65537`, 1), ``, "it is 65537 processes"},
		{strings.Replace(goodTerms, `"size":2`, `"size":65535`, 1), ``, "a connection of 65537 processes is too large"},
		{strings.Replace(goodTerms, `"media":1`, `"media":3`, 1), ``, "wants media 3"},
		{strings.Replace(goodTerms, `"sealing":0`, `"sealing":3`, 1), ``, "encryption 3"},
		{strings.Replace(goodTerms, `"period":1000000`, `"period":1`, 1), ``, "period 1ns"},
		{strings.Replace(goodTerms, `"timeout":2000000`, `"timeout":3600000000001`, 1), ``, "timeout 1h"},
		{strings.Replace(goodTerms, goodSecret, `"AAAA"`, 1), ``, "secret isn't complete"},
		{goodTerms, `null`, "has 0 cards"},
		{goodTerms, `{"cards":[{}]}`, "has 1 cards"},
		{goodTerms, `{"cards":[{},{}]}`, "business card"},
		{goodTerms, strings.Replace(goodSide, `"rank":1`, `"rank":-1`, 1), "is rank -1"},
		{goodTerms, strings.Replace(goodSide, `"rank":1`, `"rank":0`, 1), "rank 0 of a job is twice"},
		{goodTerms, strings.Replace(goodSide, `"rank":1`, `"rank":65536`, 1), "is rank 65536"},
		{goodTerms, strings.ReplaceAll(strings.Replace(goodSide, `"rank":1`, `"rank":2`, 1), `"job":"a"`, `"job":"job G"`), "has rank 2 of this job, which has 2 ranks"},
		{goodTerms, `{"cards":7}`, "begin with 7"},
		{goodTerms, strings.Replace(goodSide, `"job":"a"`, `"job":""`, 1), "of the job \"\""},
		{goodTerms, strings.Replace(goodSide, `"job":"a"`, `"job":"`+strings.Repeat("a", maxJob+1)+`"`, 1), "of the job"},
		{goodTerms, `{"failure":{"kind":"system","text":"no memory"}}`, "no memory"},
	} {
		for _, accepts := range []bool{false, true} {
			sizes, l := [2]int{0, 2}, [2]Line{nil, &said{x.terms, strings.ReplaceAll(x.side, "job G", "job 1")}}
			if accepts {
				sizes, l = [2]int{2, 0}, [2]Line{&said{x.terms, strings.ReplaceAll(x.side, "job G", "job 0")}, nil}
			}
			all := connectAll(t, sizes, l, nil)
			for _, r := range append(all[0], all[1]...) {
				if r.err == nil || !strings.Contains(r.err.Error(), x.want) {
					t.Errorf("%s, %s: %v, want %q", x.terms, x.side, r.err, x.want)
				}
			}
		}
	}
}

// Terms that are accepted give terms that are, too, whichever side has which.
func FuzzTerms(f *testing.F) {
	f.Add([]byte(goodTerms))
	f.Add([]byte(strings.Replace(goodTerms, `"host":"h"`, `"host":""`, 1)))
	f.Add([]byte(`{"version":1,"size":1e9,"period":-1}`))
	f.Add([]byte(`null`))
	own := terms{version, 3, mesh.Any, 1, 100 * time.Millisecond, time.Second, "h", bytes.Repeat([]byte{1}, secretSize)}
	f.Fuzz(func(t *testing.T, b []byte) {
		var theirs terms
		if json.Unmarshal(b, &theirs) != nil || theirs.check() != nil || theirs.Size > maxProcs-own.Size {
			return
		}
		for _, both := range [][2]*terms{{&own, &theirs}, {&theirs, &own}} {
			a := agreed(both[0], both[1])
			if err := a.check(); err != nil || a.Size != 3+theirs.Size || a.Sealing < own.Sealing || a.Timeout < own.Timeout || !bytes.Equal(a.Secret, both[0].Secret) {
				t.Errorf("%s gives %+v: %v", b, a, err)
			}
			layout.Uniform(a.Size, 1)
		}
	})
}
