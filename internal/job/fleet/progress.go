package fleet

import (
	"context"
	"fmt"
	"time"
)

// progress says now and then which hosts are awaited: soon at first, then ever less often, because
// somebody may read it later in a log.
type progress struct {
	due  <-chan time.Time
	next time.Duration
	end  time.Time // zero: there is none
}

const (
	firstProgress  = 2 * time.Second
	rarestProgress = time.Minute
)

func newProgress(ctx context.Context) *progress {
	p := &progress{next: firstProgress}
	p.end, _ = ctx.Deadline()
	p.due = time.After(p.next)
	return p
}

// text is a line, after which the next is due later.
func (p *progress) text(all int, awaited []*candidate) string {
	p.next = min(2*p.next, rarestProgress)
	p.due = time.After(p.next)
	const named = 5
	list := names(awaited[:min(named, len(awaited))])
	if more := len(awaited) - named; more > 0 {
		list = fmt.Sprintf("%s and %d more", list, more)
	}
	text := fmt.Sprintf("%d of %d hosts have come up; waiting for %s", all-len(awaited), all, list)
	if !p.end.IsZero() {
		text += fmt.Sprintf(", up to %v more", time.Until(p.end).Round(time.Second))
	}
	return text
}
