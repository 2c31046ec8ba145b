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
	done  int
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

// newLongProgress is for what takes long in any case: there is a bar at once, so it can say when
// all will be done.
func newLongProgress(total int, what string) *progress {
	p := newProgressOf(total, what)
	if !p.off {
		p.show(progressbar.OptionSetPredictTime(true))
		p.set(0)
	}
	return p
}

// step says that one more is done.
func (p *progress) step() { p.set(p.done + 1) }

// set says how much is done.
func (p *progress) set(done int) {
	p.done = done
	if p.off || p.bar == nil && time.Since(p.began) < patience {
		return
	}
	if p.bar == nil {
		p.show(progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false)) // it doesn't know when the command began
	}
	// A terminal that can't be written to is no reason to stop.
	_ = p.bar.Set(done)
}

func (p *progress) show(options ...progressbar.Option) {
	p.bar = progressbar.NewOptions(p.total, append(options,
		progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetDescription(p.what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)...)
}

// clear takes the bar away.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
