package steward

import (
	"testing"

	"banyan/internal/proto"
	"banyan/internal/testing/explore"
)

// fileCall is a call of the file system by an agent of the world.
type fileCall struct {
	call     *FileCall
	executed bool
	result   FileResult
}

// fileDelay is how long each half of a call takes at most, and filePause how long its client waits
// before it tries a server again that it can't reach.
const fileDelay, filePause = 40_000, 300_000

// begin begins a call.
func (w *world) begin(n *node, c *FileCall) {
	if c != nil {
		w.push(w.now+1+proto.Time(w.random.Int64N(fileDelay)), event{to: n, call: &fileCall{call: c}})
	}
}

// fileCall lets a call take effect, or its end be known. As long as the server can't be reached, or
// has died, the call hangs. One of eight ends with an error, or says that there was a file already,
// though it was made.
func (w *world) fileCall(n *node, c *fileCall) {
	server := w.nodes[len(w.nodes)-1]
	switch {
	case server.dead:
		return
	case w.now < server.stopped || w.lost(n.host, server.host) || w.lost(server.host, n.host):
		w.push(w.now+filePause, event{to: n, call: c})
	case !c.executed:
		w.execute(c)
		w.push(w.now+1+proto.Time(w.random.Int64N(fileDelay)), event{to: n, call: c})
	case n.dead:
	case w.now < n.stopped:
		w.push(n.stopped, event{to: n, call: c})
	default:
		if c.result.Outcome == FileDone && w.random.IntN(8) == 0 {
			c.result = FileResult{Outcome: FileUnknown}
			if c.call.Make != nil && w.random.IntN(2) == 0 {
				c.result.Outcome = FileExists
			}
		}
		var next *FileCall
		w.call(n, func(now proto.Time, out *[]Action) {
			var answers []Action
			next = n.copy.Ended(now, c.call, c.result, &answers)
			for _, a := range answers {
				n.agent.Receive(now, a.Message, out)
			}
		})
		w.begin(n, next)
	}
}

func (w *world) execute(c *fileCall) {
	c.executed = true
	at := int(c.call.Number) - 1
	switch {
	case at < len(w.disk) && c.call.Make != nil:
		c.result.Outcome = FileExists
	case at < len(w.disk):
		c.result.Entry = w.disk[at]
	case c.call.Make == nil:
		c.result.Outcome = FileAbsent
	case at > len(w.disk):
		w.fail("file %d is made, and there are %d", at+1, len(w.disk))
	default:
		w.disk = append(w.disk, c.call.Make)
	}
}

// TestFilesPoints lets each fault strike two hosts, or the server of their witness's files, at many
// moments: deaths, pauses, and cuts between any.
func TestFilesPoints(t *testing.T) {
	step := sec / 4
	if explore.Long() {
		step = sec / 20
	}
	runs := 0
	s := setting{hosts: 2, witness: true, files: true, procs: 2, drift: 1000}
	for at := 3 * sec; at < 3*sec+sec/2; at += step {
		for kind := kill; kind <= closed; kind++ {
			for h := range Host(3) {
				for _, span := range []proto.Time{2 * sec, 7 * sec, 40 * sec} {
					for next := range Host(3) {
						for after := sec / 2; after < 9*sec; after += 2 * sec {
							faults := []fault{{kind: kind, host: h, side: 1 << h, at: at, until: at + span}, {kind: kill, host: next, at: at + after}}
							if next == 2 {
								faults = faults[:1] // one alone
							}
							runs++
							if err := play(s, uint64(runs), faults, 45*sec); err != nil {
								t.Fatalf("%v: %v", faults, err)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d runs", runs)
}

// Two hosts can't hear each other, and both hear their witness. One side goes on, the steward's
// unless its questions come late, and the other one is over: what the steward can't hear isn't kept
// alive.
func TestCutWithWitness(t *testing.T) {
	for _, files := range []bool{false, true} {
		for seed := range uint64(20) {
			w := newWorld(setting{hosts: 2, witness: true, files: files, procs: 2, drift: 1000}, seed+1)
			w.strike(fault{kind: cut, host: 0, side: 1, against: 2, at: 3 * sec, until: 1000 * sec})
			if err := w.run(20 * sec); err != nil {
				t.Fatal(err)
			}
			a, b := w.nodes[0], w.nodes[1]
			if files && b.agent.Leads() {
				a, b = b, a
			}
			if !a.agent.Leads() || !a.acts(w.now) || b.acts(w.now) || b.agent.lease.held || w.lostAt[b.host] == 0 {
				t.Fatalf("seed %d, files %v: host %d leads: %v; host %d has a lease: %v, is lost at %d",
					seed+1, files, a.host, a.agent.Leads(), b.host, b.agent.lease.held, w.lostAt[b.host])
			}
		}
	}
}

// Either of two hosts dies. The other one leads, and goes on.
func TestEitherOfTwo(t *testing.T) {
	for _, files := range []bool{false, true} {
		for seed := range uint64(20) {
			for dead := range Host(2) {
				w := newWorld(setting{hosts: 2, witness: true, files: files, procs: 2, drift: 1000}, seed+1)
				w.strike(fault{kind: kill, host: dead, at: 3 * sec})
				if err := w.run(13 * sec); err != nil {
					t.Fatal(err)
				}
				if n := w.nodes[1-dead]; !n.agent.Leads() || !n.acts(w.now) || w.lostAt[dead] == 0 {
					t.Fatalf("seed %d, files %v, host %d dead: the other one leads: %v, lost at %d", seed+1, files, dead, n.agent.Leads(), w.lostAt[dead])
				}
			}
		}
	}
}
