package reproduce

import (
	"fmt"
	"io"
	"os"
	"time"

	"banyan/cmd/banyan/internal/cli"
	"banyan/cmd/banyan/internal/progress"
)

// plannedStep is a step of a reproduction, and how long it takes from its beginning.
type plannedStep struct {
	name  string
	takes time.Duration
}

// countdown says how long a reproduction will still take. What earlier runs have done takes no
// time.
type countdown struct {
	steps  []plannedStep
	at     int // the step that is going on
	share  float64
	kept   time.Duration // what earlier runs have done of the steps so far, by the plan
	before time.Duration // what the steps before this one take, by the plan
	began  time.Time
}

func newCountdown(steps []plannedStep) *countdown {
	return &countdown{steps: steps, at: -1, began: time.Now()}
}

// planned is how long all steps take from the beginning.
func (c *countdown) planned() (all time.Duration) {
	for _, s := range c.steps {
		all += s.takes
	}
	return all
}

// set says how far a step is. A step that isn't planned changes nothing.
func (c *countdown) set(step string, done, total int) {
	if total <= 0 {
		return
	}
	share := float64(done) / float64(total)
	if c.at >= 0 && c.steps[c.at].name == step {
		c.share = max(c.share, share)
		return
	}
	for i := c.at + 1; i < len(c.steps); i++ {
		if c.steps[i].name != step {
			continue
		}
		for _, s := range c.steps[max(c.at, 0):i] {
			c.before += s.takes
		}
		c.at, c.share = i, share
		c.kept += portion(share, c.steps[i].takes)
		return
	}
}

func portion(share float64, d time.Duration) time.Duration { return time.Duration(share * float64(d)) }

// learnt is how long a run must have worked before its pace counts more than the plan.
const learnt = 30 * time.Second

// left is how long the rest takes, by the plan and by how fast this run has been so far.
func (c *countdown) left(now time.Time) time.Duration {
	done := c.before
	if c.at >= 0 {
		done += portion(c.share, c.steps[c.at].takes)
	}
	rest := max(0, c.planned()-done)
	if worked, took := done-c.kept, now.Sub(c.began); worked > learnt && took > learnt {
		rest = portion(float64(took)/float64(worked), rest)
	}
	return rest
}

// display shows how far a reproduction is: a bar for each step on a terminal; otherwise a line now
// and then, for the file that a run of hours writes to.
type display struct {
	out       io.Writer
	countdown *countdown // nil: nothing is planned
	bar       progress.Steps
	lines     bool
	step      string // that is going on
	label     string // its name, and what was left when it began
	written   time.Time
}

// linesEvery is how often a line is written.
const linesEvery = 5 * time.Minute

func newDisplay(out io.Writer, planned []plannedStep) *display {
	p := &display{out: out, lines: !cli.IsTerminal(os.Stderr), written: time.Now()}
	if len(planned) > 0 {
		p.countdown = newCountdown(planned)
	}
	return p
}

// set says how far a step is: done of total. The first time, done is what an earlier run has done.
func (p *display) set(step string, done, total int) {
	rest := ""
	if p.countdown != nil {
		p.countdown.set(step, done, total)
		rest = fmt.Sprintf(" (all: %s left)", roughly(p.countdown.left(time.Now())))
	}
	if step != p.step {
		p.step, p.label = step, step+rest
	}
	p.bar.Set(p.label, done, total)
	if now := time.Now(); p.lines && now.Sub(p.written) >= linesEvery {
		p.written = now
		fmt.Fprintf(p.out, "banyan: %s: %d of %d%s\n", step, done, total, rest)
	}
}
