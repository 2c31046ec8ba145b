// Package watch is what shows jobs of banyan run while they run: --status, --events, --on-event and
// --report as HTML.
package watch

import (
	"errors"
	"fmt"
	"os"
	"time"

	"banyan/cmd/banyan/internal/job"
	"banyan/internal/job/status/metrics"
	"banyan/internal/job/status/serve"
)

// endLimit bounds how long the end of a job waits for commands and files.
const endLimit = 5 * time.Second

// watch shows a job.
type watch struct {
	*serve.Hub
	server *serve.Server // nil: none
	file   *os.File      // of --events; nil: none
	done   []<-chan struct{}
	tell   func(text string)
	closed bool
}

// Begin begins to show a job.
func Begin(w job.Watched) (job.Watch, error) {
	x := &watch{Hub: serve.NewHub(w.Name), tell: w.Tell}
	if w.Events != "" {
		file, err := os.Create(w.Events)
		if err != nil {
			return nil, fmt.Errorf("--events: %w", err)
		}
		x.file = file
		x.done = append(x.done, x.Record(file))
	}
	if w.OnEvent != "" {
		x.done = append(x.done, x.Call(w.OnEvent, w.Tell))
	}
	if w.Status != "" {
		at, err := serve.ParseAddress(w.Status)
		if err == nil {
			x.server, err = serve.Listen(x.Hub, at, w.Token, metrics.Handler(x.Totals))
		}
		if err != nil {
			x.Close()
			return nil, fmt.Errorf("--status: %w", err)
		}
		x.SetAddresses([]string{x.server.Address()})
		text := "the job is shown at " + x.server.URL()
		if print := x.server.Fingerprint(); print != "" {
			text += " (SHA-256 of its certificate: " + print + ")"
		}
		w.Tell(text)
	}
	return x, nil
}

// URL implements job.Watch.
func (x *watch) URL() string {
	if x.server == nil {
		return ""
	}
	return x.server.URL()
}

// Close implements job.Watch.
func (x *watch) Close() (err error) {
	if x.closed {
		return nil
	}
	x.closed = true
	x.Hub.Close()
	limit := time.After(endLimit)
	for _, done := range x.done {
		select {
		case <-done:
		case <-limit:
			err = errors.New("the command of --on-event, or the file of --events, takes too long")
			x.tell(err.Error())
			limit = time.After(0)
		}
	}
	if x.file != nil {
		if e := x.file.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("--events: %w", e))
		}
	}
	if x.server != nil {
		x.server.Close()
	}
	return err
}
