package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long a command may take before it shows its progress.
const patience = 2 * time.Second

// progress is a bar on stderr, if that is a terminal and the command takes
// longer than its patience.
type progress struct {
	total int
	what  string // is going on
	began time.Time
	bar   *progressbar.ProgressBar
	off   bool
}

// newProgress counts what is simulated up to total, or up to nobody knows what if that is -1.
func newProgress(total int, unit string) *progress {
	return newProgressOf(total, "simulating "+unit)
}

func newProgressOf(total int, what string) *progress {
	return &progress{total: total, what: what, began: time.Now(), off: !isTerminal(os.Stderr)}
}

// set says how much is done.
func (p *progress) set(done int) {
	if p.off || p.bar == nil && time.Since(p.began) < patience {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(p.total,
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetDescription(p.what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false), // it doesn't know when the command began
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionFullWidth(),
			progressbar.OptionClearOnFinish(),
		)
	}
	// A terminal that can't be written to is no reason to stop.
	_ = p.bar.Set(done)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
