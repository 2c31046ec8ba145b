package mpi

import (
	"fmt"
	"os"
	"time"
)

// ReportWaits has report called when a call of this process has waited for so long, and again each
// time that it has waited for twice as long, with a sentence that names the ranks that it waits for
// (of the world), such as
//
//	rank 2 waits in Allreduce for a message from rank 0, since 10s, called at main.go:31
//
// If report is nil the sentence is a line on stderr. The waiting goroutine calls report, which must
// not call this package. Another call of ReportWaits replaces this one; 0 ends it. It costs nothing
// as long as no call waits.
func (c *Comm) ReportWaits(after time.Duration, report func(sentence string)) {
	switch {
	case after <= 0:
		report = nil
	case report == nil:
		report = func(sentence string) { fmt.Fprintln(os.Stderr, "banyan: "+sentence) }
	}
	c.c.Engine().ReportWaits(after, report)
}
