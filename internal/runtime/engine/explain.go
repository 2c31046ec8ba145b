package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// probe is what a thread probes for.
type probe struct {
	src proto.Rank
	tag int32
}

// probing is until for a probe. The lock is held.
func (e *Engine) probing(what probe, met func() bool) {
	e.probes = append(e.probes, what)
	e.until(met)
	i := slices.Index(e.probes, what)
	e.probes = slices.Delete(e.probes, i, i+1)
}

const (
	// polledLately is how long ago a program's last Test in vain may be for it to
	// count as one that waits by polling.
	polledLately = proto.Time(100 * time.Millisecond)
	// explained bounds how many operations Explain lists.
	explained = 4
)

// Explain says what the program waits for, in the words that follow "rank 3 ". It is for a user
// whose job hangs. Ranks are the world's.
func (e *Engine) Explain() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	polls := e.emptyTests > 0 && e.now()-e.lastTest < polledLately
	switch {
	case e.p.Finishing():
		return "has finished, and waits for the others"
	case e.waiters == 0 && !polls:
		return "is in no function that waits"
	}
	var waits []string
	for _, p := range e.probes {
		waits = append(waits, process.Wait{Receives: true, Peer: p.src, Tag: p.tag}.String())
	}
	var parts []string
	for _, w := range e.p.Waits() {
		if w.Collective {
			parts = append(parts, w.String())
		} else {
			waits = append(waits, w.String())
		}
	}
	var names []string
	for _, s := range e.schedules {
		names = append(names, s.Name)
	}
	text := "waits"
	if polls && e.waiters == 0 {
		text = "polls, and waits"
	}
	if len(names) > 0 {
		text += " in " + strings.Join(shortened(names), ", ")
	}
	if all := shortened(append(parts, waits...)); len(all) > 0 {
		text += " " + strings.Join(all, ", ")
	}
	return text
}

// shortened is a list of at most explained, and how many more there are.
func shortened(list []string) []string {
	if more := len(list) - explained; more > 0 {
		return append(list[:explained:explained], fmt.Sprintf("and %d more", more))
	}
	return list
}
