// Package watch is what shows jobs of banyan run while they run: --status, --events, --on-event and
// --report as HTML.
package watch

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"banyan/cmd/banyan/internal/job"
	"banyan/internal/job/agent"
	"banyan/internal/job/status"
	"banyan/internal/job/status/metrics"
	"banyan/internal/job/status/serve"
)

// endLimit bounds how long the end of a job waits for commands and files.
const endLimit = 5 * time.Second

// feedLimit bounds how long the end waits for other hosts to be told of it.
const feedLimit = time.Second

// watch shows a job.
type watch struct {
	*serve.Hub
	server   *serve.Server // nil: none
	file     *os.File      // of --events; nil: none
	done     []<-chan struct{}
	tell     func(text string)
	spread   bool // to agents
	settings serve.Settings
	feeds    sync.WaitGroup
	closed   bool
}

// Begin begins to show a job.
func Begin(w job.Watched) (job.Watch, error) {
	x := &watch{Hub: serve.NewHub(w.Name), tell: w.Tell, spread: w.Spread || w.Status != ""}
	how := os.O_TRUNC
	if w.Settings != nil {
		how = os.O_APPEND
		var err error
		if x.settings, err = serve.DecodeSettings(w.Settings); err != nil {
			return nil, err
		}
	}
	if w.Control {
		if w.Status == "" || w.Token == serve.NoToken {
			return nil, errors.New("--status-control needs --status, with a token: who has that may kill processes")
		}
		x.AllowControl()
	}
	if x.settings.Control {
		x.AllowControl()
	}
	if w.Before != nil {
		if err := x.Continue(w.Before); err != nil {
			w.Tell(err.Error()) // the job is shown from now on
		}
	}
	if w.Events != "" {
		file, err := os.OpenFile(w.Events, os.O_WRONLY|os.O_CREATE|how, 0o666)
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
		x.settings = x.server.Settings()
		x.settings.Control = w.Control
		x.AddAddress(status.Place{Host: "the launcher", URL: x.server.Address()})
		text := "the job is shown at " + x.server.URL()
		if print := x.server.Fingerprint(); print != "" {
			text += " (SHA-256 of its certificate: " + print + ")"
		}
		w.Tell(text)
	}
	return x, nil
}

// Settings implements job.Watch.
func (x *watch) Settings() []byte { return x.settings.Encode() }

// Agent implements launcher.Watcher. It has the host show the job, too.
func (x *watch) Agent(host int, name string, a agent.Agent) {
	if far, is := a.(agent.Showing); is && x.spread {
		x.feeds.Go(func() { x.feed(host, name, far) })
	}
}

// feed tells a host how the job is, until the end of the job, or of the host.
func (x *watch) feed(host int, name string, a agent.Showing) {
	place, err := a.Show(x.settings.On(host+1, name).Encode())
	if err != nil {
		if !errors.Is(err, agent.ErrHostLost) {
			x.tell(fmt.Sprintf("%s doesn't show the job: %v", name, err))
		}
		return
	}
	if len(place) > 0 {
		x.AddAddress(status.Place{Host: name, URL: string(place)})
	}
	a.Requests(x.OperateFor)
	to := a.Shown()
	x.Feed(to) // an error is the host's end, of which the launcher knows
	to.Close()
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
	fed := make(chan struct{})
	go func() {
		x.feeds.Wait()
		close(fed)
	}()
	select {
	case <-fed:
	case <-time.After(feedLimit):
	}
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
