package engine

import (
	"fmt"
	"strings"
	"time"

	"banyan/internal/proto"
)

// probing does as until, and notes what the thread probes for. The lock is held.
func (e *Engine) probing(context uint64, src proto.Rank, tag int32, met func() bool) {
	e.p.StartProbe(context, src, tag)
	e.until(met)
	e.p.EndProbe(context, src, tag)
}

const (
	// polledLately is how long ago a program's last test in vain may be for the program to count
	// as one that waits by testing.
	polledLately = proto.Time(100 * time.Millisecond)
	// explained bounds how many operations Explain lists.
	explained = 4
)

// Explain says what the program waits for, for a user whose job hangs. The text continues a
// sentence that begins with "rank 3 ". Its ranks are those of the world.
func (e *Engine) Explain() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	polls := e.polling.empty > 0 && e.now()-e.polling.last < polledLately
	switch {
	case e.p.Finishing():
		return "has finished, and waits for the others"
	case e.waiting.waiters() == 0 && !polls:
		return "is in no function that waits"
	}
	var waits, parts []string
	for _, w := range e.p.Waits() {
		if w.Collective {
			parts = append(parts, w.String())
		} else {
			waits = append(waits, w.String())
		}
	}
	var names []string
	for _, s := range e.running.schedules {
		names = append(names, s.Name)
	}
	for _, c := range e.sharing {
		names, parts = append(names, c.name), append(parts, c.String())
	}
	text := "waits"
	if polls && e.waiting.waiters() == 0 {
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

// shortened is the list cut to explained entries, with the number of those left out.
func shortened(list []string) []string {
	if more := len(list) - explained; more > 0 {
		return append(list[:explained:explained], fmt.Sprintf("and %d more", more))
	}
	return list
}
