package logp

import (
	"fmt"
	"slices"
	"strings"

	"banyan/internal/fault"
)

// Crash is a process that dies during a broadcast: at a step (fault.AtStep), before any other
// event of that instant, or just before its N-th send (fault.AtSend). So every prefix of its
// actions is possible. A message that it has begun to send is sent.
type Crash struct {
	Proc int // not the root
	At   fault.Trigger
}

// ParseCrashes reads crashes in the language of package fault, whose ranks are the processes. A
// process that is stopped for good is dead to all others, so a stop is a kill. An entry can't
// be random, nor have a duration: a simulation has steps.
func ParseCrashes(text string, procs int) ([]Crash, error) {
	plan, err := fault.Parse(text)
	if err != nil {
		return nil, err
	}
	events, err := plan.Resolve(procs, 1)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(events, func(e fault.Event) bool { return e.Action == fault.Flip }); i >= 0 {
		return nil, fmt.Errorf("%v: simulated messages have no data", events[i])
	}
	crashes := make([]Crash, len(events))
	for i, e := range events {
		crashes[i] = Crash{e.Rank, e.At}
		if err := crashes[i].validate(procs); err != nil {
			return nil, fmt.Errorf("fault plan (%v): %w", e, err)
		}
	}
	return crashes, nil
}

// FormatCrashes is the inverse of ParseCrashes.
func FormatCrashes(crashes []Crash) string {
	var text []string
	for _, c := range crashes {
		text = append(text, fmt.Sprintf("kill rank=%d at=%v", c.Proc, c.At))
	}
	return strings.Join(text, "; ")
}

func (c Crash) validate(procs int) error {
	switch {
	case c.Proc == 0:
		return fmt.Errorf("0 is the root, which must live")
	case c.Proc < 0 || c.Proc >= procs:
		return fmt.Errorf("process %d: want 1 to %d", c.Proc, procs-1)
	case c.At.Kind == fault.AtStep && c.At.N >= 0, c.At.Kind == fault.AtSend && c.At.N >= 1 && c.At.N < 1<<31:
		return nil
	}
	return fmt.Errorf("at=%v: want step:N or send:N", c.At)
}
