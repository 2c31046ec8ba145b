package launcher

import (
	"io"
	"sync"

	"banyan/internal/job/launcher/output"
)

// Screen shows the output of a job. A byte is known by its rank, its stream and its offset in that,
// counted from the job's beginning, whichever launcher shows it. What OnShown was told of is there
// for good: it needn't be shown again by another launcher that takes over. What a launcher shows
// again all the same, because the one before was lost together with the word that it is there, the
// screen leaves out by its offset. Methods may be called from several goroutines.
type Screen interface {
	// Print shows what a rank has written, from byte at of the stream on. It may wait. A stream's
	// pieces come in order, without gaps. The first one begins where the launcher does.
	Print(rank int, stderr bool, at int64, b []byte) error
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
}

// newPrinters has the job, and those that it spawns, write to the same two writers by turns.
func newPrinters(c *Config) *printers {
	c.Stdout, c.Stderr = &byTurns{w: c.Stdout}, &byTurns{w: c.Stderr}
	return &printers{
		stdout: output.NewPrinter(c.Stdout, c.Label, lineHold).OfJob(c.labels), stderr: output.NewPrinter(c.Stderr, c.Label, lineHold).OfJob(c.labels),
	}
}

func (p *printers) Print(rank int, stderr bool, at int64, b []byte) error {
	to := p.stdout
	if stderr {
		to = p.stderr
	}
	err := to.Print(rank, b)
	p.shown(rank, stderr, at+int64(len(b)))
	return err
}

func (p *printers) Ended(rank int) {
	p.stdout.Ended(rank)
	p.stderr.Ended(rank)
}

func (p *printers) Note(text string) { p.stderr.Note(text) }

func (p *printers) OnShown(f func(rank int, stderr bool, n int64)) { p.shown = f }

// byTurns is a writer that several may use.
type byTurns struct {
	mu sync.Mutex
	w  io.Writer
}

func (t *byTurns) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Write(b)
}
