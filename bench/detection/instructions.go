package detection

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"banyan/bench/instructions"
	"banyan/bench/processes"
	"banyan/internal/proto/detector"
)

// Heartbeats is what heartbeats cost a process that does nothing else, counted by stepping it
// instruction by instruction: neither the machine's load nor its speed matters. The kernel's
// instructions aren't seen.
type Heartbeats struct {
	// Instructions are those of one period: a heartbeat is sent and one is received, and the
	// library's thread wakes up and goes to sleep.
	Instructions float64
	Periods      int // that were counted
	// Idle are the instructions in a second of a process without heartbeats.
	Idle float64
}

// Share is the share of a core that heartbeats with a period take, if it does so many instructions
// in a second.
func (h *Heartbeats) Share(period time.Duration, perSecond float64) float64 {
	return h.Instructions / period.Seconds() / perSecond
}

const (
	// countedPeriod is longer than a heartbeat takes while it is stepped.
	countedPeriod = 100 * time.Millisecond
	// CountedSpan is how long a process is stepped.
	CountedSpan = 6 * time.Second
)

// heartbeat is where the detector takes a heartbeat, once a period. A member is this same program,
// which lies where it was linked.
func heartbeat() uintptr { return reflect.ValueOf((*detector.Machine).Heartbeat).Pointer() }

// calm keeps the runtime from interrupting a goroutine after 10 ms: stepped ones take longer.
var calm = []string{"GODEBUG=asyncpreemptoff=1"}

// CountHeartbeats counts the instructions of a heartbeat: those of a member with heartbeats, and of
// one without, for a time each, such as [CountedSpan].
func CountHeartbeats(ctx context.Context, again []string, span time.Duration) (h Heartbeats, err error) {
	with, err := countMember(ctx, again, countedPeriod, span)
	if err != nil {
		return h, err
	}
	if with.Calls == 0 {
		return h, errors.New("a member got no heartbeat while its instructions were counted (is the program linked as PIE?)")
	}
	without, err := countMember(ctx, again, time.Hour, span)
	if err != nil {
		return h, err
	}
	return Heartbeats{
		Instructions: float64(with.Instructions) / float64(with.Calls), Periods: with.Calls,
		Idle: float64(without.Instructions) / span.Seconds(),
	}, nil
}

// countMember counts the instructions of a member of a job that otherwise does nothing.
func countMember(ctx context.Context, again []string, period, span time.Duration) (c instructions.Calls, err error) {
	// No member may suspect the stepped one.
	s := Setting{System: BanyanBare, N: 3, Period: period, Timeout: 1000 * time.Hour, Fault: None}
	r := &run{Setting: s, again: again, ctx: ctx, struckAt: make([]int64, s.N), env: calm}
	if r.scoreboard, err = newScoreboard(s.N); err != nil {
		return c, err
	}
	defer r.scoreboard.Close()
	if r.group, err = processes.NewGroup(again); err != nil {
		return c, err
	}
	defer r.end()
	if err := r.start(); err != nil {
		return c, err
	}
	r.sleep(time.Second) // connections are made
	c, err = instructions.Whole(ctx, int(r.scoreboard.word(1, wordPid).Load()), span, heartbeat())
	if err != nil {
		err = fmt.Errorf("counting the instructions of a member: %w", err)
	}
	return c, err
}
