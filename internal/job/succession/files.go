package succession

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	driver "banyan/internal/job/steward"
	"banyan/internal/proto/steward"
)

const (
	// signLimit is how long a host may take to see the witness directory: a network's file system
	// may remember for a minute what a directory held.
	signLimit = 90 * time.Second
	signPause = 500 * time.Millisecond
	// removeLimit bounds how long the end of the job waits for the file system.
	removeLimit = 2 * time.Second
)

// path is where the witness directory is, or empty.
func (o *Owner) path() string {
	if o.files == nil {
		return ""
	}
	return o.files.Path()
}

// sign leaves word that a host sees the witness directory.
func sign(d *driver.Directory, h steward.Host) {
	if err := d.Sign(h); err != nil {
		slog.Debug("succession: the witness directory isn't seen", "host", h, "err", err)
	}
}

// awaitSigns tells the user if some agents don't see the witness directory: they get no vote from
// it. The map has the agents' names.
func (o *Owner) awaitSigns(agents map[steward.Host]string) {
	missing := maps.Clone(agents)
	for begun := time.Now(); time.Since(begun) < signLimit; time.Sleep(signPause) {
		select {
		case <-o.over:
			return
		default:
		}
		seen, _ := o.files.Signed() // what isn't seen is tried again
		maps.DeleteFunc(missing, func(h steward.Host, _ string) bool { return seen[h] })
		if len(missing) == 0 {
			return
		}
	}
	o.note(fmt.Sprintf("the witness directory %s isn't seen on %s, which couldn't go on alone: it must be on a file system that all hosts share",
		o.files.Path(), strings.Join(slices.Sorted(maps.Values(missing)), ", ")))
}

// removeFiles removes the witness directory of a job that is over.
func removeFiles(d *driver.Directory) {
	if d == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := d.Remove(); err != nil {
			slog.Debug("succession: the witness directory stays", "err", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(removeLimit):
	}
}
