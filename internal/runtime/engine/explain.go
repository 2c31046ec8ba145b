package engine

import (
	"fmt"
	"strings"
	"time"

	"banyan/internal/counters"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
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
	// waitsForNothing is the explanation where there is nothing in particular to wait for.
	waitsForNothing = "waits"
)

// Explain says what the program waits for, for a user whose job hangs. The text continues a
// sentence that begins with "rank 3 ". Its ranks are those of the world.
func (e *Engine) Explain() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, _, _ := e.explain()
	return text
}

// Waits says whether the program waits in this engine.
func (e *Engine) Waits() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _, waits := e.explain()
	return waits
}

// explain is Explain with the lock held. first is the rank that the program waits for first, as
// counters.Record has it; waits says whether it waits.
func (e *Engine) explain() (text string, first int64, waits bool) {
	polls := e.polling.empty > 0 && e.now()-e.polling.last < polledLately
	first = counters.NoRank
	switch {
	case e.p.Finishing():
		return "has finished, and waits for the others", first, true
	case e.waiting.waiters() == 0 && len(e.locking) == 0 && !polls:
		return "is in no function that waits", first, false
	}
	all := e.p.Waits()
	for _, w := range all {
		if first == counters.NoRank && !w.Ahead {
			first = int64(w.Peer)
		}
	}
	for _, c := range e.sharing {
		if first == counters.NoRank {
			first = int64(c.in.Members[c.in.Subject()])
		}
	}
	return e.explanation(all, polls), first, true
}

// explanation says for what the program waits.
func (e *Engine) explanation(all []process.Wait, polls bool) string {
	var waits, parts, names []string
	for _, w := range all {
		if w.Collective {
			parts = append(parts, w.String())
		} else {
			waits = append(waits, w.String())
		}
	}
	for _, s := range e.running.schedules {
		names = append(names, s.Name)
	}
	for _, c := range e.sharing {
		names, parts = append(names, c.name), append(parts, c.String())
	}
	for _, l := range e.locking {
		names, parts = append(names, l.name), append(parts, l.what)
	}
	text := waitsForNothing
	if polls && e.waiting.waiters() == 0 && len(e.locking) == 0 {
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
