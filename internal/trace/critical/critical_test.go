package critical

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// path is the path of the events of a text, a segment a line. An event is "time process event", or
// "time process event peer kind".
func path(procs int, text string) string {
	f := NewFinder(procs)
	for line := range strings.Lines(text) {
		e := trace.Event{Peer: proto.NoProc}
		if n, _ := fmt.Sscan(line, &e.Time, &e.Proc, &e.Event, &e.Peer, &e.Kind); n >= 3 {
			f.Event(e)
		}
	}
	return told(f.Path())
}

func told(path []Segment) string {
	var b strings.Builder
	for _, s := range path {
		fmt.Fprintf(&b, "%d-%d %d %v", s.Begin, s.End, s.Proc, s.What)
		if s.What == Flight {
			fmt.Fprintf(&b, " %s to %d", s.Kind, s.To)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestPath(t *testing.T) {
	for name, c := range map[string]struct{ events, want string }{
		"a process that computes long is waited for": {`
			0 0 send 1 eager
			2 0 wait
			5 1 receive 0 eager
			50 1 send 0 eager
			51 1 wait
			60 0 receive 1 eager
			61 0 resume
			70 0 send 1 eager
			80 1 receive 0 eager
			81 1 resume
			90 1 send 0 eager`, `
			5-50 1 computing
			50-61 1 flight eager to 0
			61-70 0 computing
			70-81 0 flight eager to 1
			81-90 1 computing`},
		"a message that was under way ends the wait here": {`
			0 0 send 1 eager
			0 1 send 0 eager
			10 1 wait
			20 1 receive 0 eager
			20 1 resume
			30 1 send 0 eager`, `
			0-10 1 computing
			10-20 1 waiting
			20-30 1 computing`},
		"the last of several messages counts": {`
			0 2 wait
			1 0 send 2 eager
			2 2 receive 0 eager
			8 1 send 2 tree
			9 2 receive 1 tree
			9 2 resume
			12 2 send 1 ack`, `
			8-9 1 flight tree to 2
			9-12 2 computing`},
		"a heartbeat ends no wait and is no end": {`
			0 0 wait
			3 1 send 0 heartbeat
			4 0 receive 1 heartbeat
			5 0 resume
			6 0 send 1 eager
			9 1 send 0 heartbeat`, `
			0-5 0 waiting
			5-6 0 computing`},
		"who is killed in a wait isn't the end": {`
			0 0 wait
			1 1 send 0 eager
			2 0 receive 1 eager
			3 0 resume
			4 1 send 0 eager
			5 1 wait`, `
			1-3 1 flight eager to 0`},
		"a clock that is ahead hides the message": {`
			0 0 wait
			5 0 receive 1 eager
			6 0 resume
			7 1 send 0 eager
			8 0 send 1 eager`, `
			0-6 0 waiting
			6-8 0 computing`},
		"no waits, no path": {`
			0 0 send 1 eager
			5 1 receive 0 eager`, ``},
		"nothing": {``, ``},
	} {
		want := strings.TrimPrefix(strings.ReplaceAll(c.want, "\t", ""), "\n")
		if got := strings.TrimSpace(path(3, c.events)); got != strings.TrimSpace(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// Whatever the events are, the segments follow each other without a gap, up to the end of the run,
// and each flight goes on at its receiver.
func TestRandomPaths(t *testing.T) {
	kinds := []string{"eager", "tree", "ack", "heartbeat"}
	paths := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		procs := 1 + rng.IntN(4)
		f := NewFinder(procs)
		last, waiting := make([]proto.Time, procs), make([]bool, procs)
		for now := proto.Time(0); now < 60; now += proto.Time(rng.IntN(3)) {
			e := trace.Event{Time: now, Proc: proto.Proc(rng.IntN(procs)), Peer: proto.NoProc}
			if e.Event = [...]string{trace.Send, trace.Receive, trace.Wait, trace.Resume}[rng.IntN(4)]; e.Event == trace.Send || e.Event == trace.Receive {
				e.Peer, e.Kind = proto.Proc(rng.IntN(procs)), kinds[rng.IntN(len(kinds))]
			}
			if e.Kind != "heartbeat" {
				last[e.Proc] = now
			}
			waiting[e.Proc] = e.Event == trace.Wait || waiting[e.Proc] && e.Event != trace.Resume
			f.Event(e)
		}
		end := proto.Time(0)
		for i := range procs {
			if !waiting[i] {
				end = max(end, last[i])
			}
		}
		p := f.Path()
		if len(p) == 0 {
			continue
		}
		paths++
		for i, s := range p {
			here := s.Proc
			if s.What == Flight {
				here = s.To
			}
			if s.End <= s.Begin || i+1 < len(p) && (p[i+1].Begin != s.End || p[i+1].Proc != here) || i+1 == len(p) && s.End != end {
				t.Fatalf("seed %d, the last event is at %d, segment %d:\n%s", seed, end, i, told(p))
			}
		}
	}
	if paths < 1000 {
		t.Errorf("%d paths", paths)
	}
}
