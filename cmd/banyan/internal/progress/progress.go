// Package progress shows on a terminal how far a command is. It is apart from package cli because
// the bar brings an HTTP server with it, which the command mpiexec doesn't link.
package progress

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"banyan/cmd/banyan/internal/cli"
)

// patience is how long a command may take before it shows its progress.
const patience = 2 * time.Second

// Bar is a bar on stderr. There is none if stderr isn't a terminal.
type Bar struct {
	total int
	what  string // is going on
	began time.Time
	done  int
	bar   *progressbar.ProgressBar
	off   bool
}

// New returns a bar that is shown if the command takes longer than two seconds. It counts
// up to total; -1 stands for an unknown one.
func New(total int, what string) *Bar {
	return &Bar{total: total, what: what, began: time.Now(), off: !cli.IsTerminal(os.Stderr)}
}

// NewLong returns a bar for what takes long in any case. It is shown at once, with the
// time that is left.
func NewLong(total int, what string) *Bar {
	p := New(total, what)
	if !p.off {
		p.show(progressbar.OptionSetPredictTime(true))
		p.Set(0)
	}
	return p
}

// Step says that one more is done.
func (p *Bar) Step() { p.Set(p.done + 1) }

// Set says how much is done.
func (p *Bar) Set(done int) {
	p.done = done
	if p.off || p.bar == nil && time.Since(p.began) < patience {
		return
	}
	if p.bar == nil {
		// The bar would count the time from now on, not from the command's beginning.
		p.show(progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false))
	}
	// A terminal that can't be written to is no reason to stop.
	_ = p.bar.Set(done)
}

func (p *Bar) show(options ...progressbar.Option) {
	p.bar = progressbar.NewOptions(p.total, append(options,
		progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionSetDescription(p.what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionClearOnFinish(),
	)...)
}

// Clear takes the bar away.
func (p *Bar) Clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// Steps is a bar for each step of a long command, one after the other. What was done before a step
// began, in an earlier run of the command, doesn't count for the time that is left.
type Steps struct {
	step string
	from int // done when the step began
	bar  *Bar
}

// Set says how much of a step is done.
func (s *Steps) Set(step string, done, total int) {
	if s.bar == nil || step != s.step {
		s.Clear()
		s.step, s.from = step, done
		s.bar = NewLong(max(1, total-done), step)
	}
	s.bar.Set(max(0, done-s.from))
}

// Clear takes the bar away.
func (s *Steps) Clear() {
	if s.bar != nil {
		s.bar.Clear()
	}
}
