package launcher

import (
	"banyan/internal/job/launcher/output"
)

// Screen shows the output of a job. What OnShown was told of is there for good: it needn't be shown
// again by another launcher that takes over. Methods may be called from several goroutines.
type Screen interface {
	// Print shows what a rank has written. It may wait.
	Print(rank int, stderr bool, b []byte) error
	// Ended says that a rank writes nothing more.
	Ended(rank int)
	// Note shows a message of the launcher.
	Note(text string)
	// OnShown has f called with how many bytes of a rank's stream are shown for good, counted from
	// the job's beginning. It is called once, before the first Print.
	OnShown(f func(rank int, stderr bool, n int64))
}

// printers are the screen of a job whose output goes to two writers of this process.
type printers struct {
	stdout, stderr *output.Printer
	shown          func(rank int, stderr bool, n int64)
	printed        [][2]int64 // by rank; each is touched by one goroutine at a time
}

func newPrinters(c *Config, ranks int) *printers {
	return &printers{
		stdout: output.NewPrinter(c.Stdout, c.Label, lineHold), stderr: output.NewPrinter(c.Stderr, c.Label, lineHold),
		printed: make([][2]int64, ranks),
	}
}

func (p *printers) Print(rank int, stderr bool, b []byte) error {
	to := p.stdout
	n := &p.printed[rank][0]
	if stderr {
		to, n = p.stderr, &p.printed[rank][1]
	}
	err := to.Print(rank, b)
	*n += int64(len(b))
	p.shown(rank, stderr, *n)
	return err
}

func (p *printers) Ended(rank int) {
	p.stdout.Ended(rank)
	p.stderr.Ended(rank)
}

func (p *printers) Note(text string) { p.stderr.Note(text) }

func (p *printers) OnShown(f func(rank int, stderr bool, n int64)) { p.shown = f }
