package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"banyan/internal/job/console"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/internal/job/succession"
)

// Watched says how a job is to be watched.
type Watched struct {
	Name    string
	Status  string // where it listens; empty: nowhere
	Token   string // for that; empty: a random one
	Events  string // a file for events; empty: none
	OnEvent string // a command; empty: none
	Control bool   // those who watch may have something done
	Tell    func(text string)
	// Spread has agents know how the job is, so that another launcher can go on with what is shown.
	Spread bool
	// Settings are those of the launcher before this one, which agents show the job by; Before is
	// what they have shown. nil: there was none.
	Settings, Before []byte
}

// Watch shows a job.
type Watch interface {
	launcher.Watcher
	// URL is where its page is; empty: nowhere.
	URL() string
	// Settings are what a launcher needs that goes on with the job: a secret.
	Settings() []byte
	// WriteReport writes its page as one file.
	WriteReport(w io.Writer) error
	// Close ends it, when the job has ended or can't begin.
	Close() error
}

// BeginWatch begins to show a job. The command mpiexec has none, so that it doesn't link what shows
// jobs.
type BeginWatch func(w Watched) (Watch, error)

// watchFlags are the flags of banyan run about those who watch the job.
type watchFlags struct {
	status, events, onEvent string
	control                 bool
}

func (f *watchFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.status, "status", "", "show the job while it runs, to browsers and Prometheus, at `ADDRESS`: :8080 (this machine only), HOST:PORT (TLS) or unix:PATH")
	flags.BoolVar(&f.control, "status-control", false, "let the page of --status kill replicas, drain hosts, try again to heal, and take a trace of a second: everybody who has its address may")
	flags.StringVar(&f.events, "events", "", "write what happens to `FILE` as it happens, as JSON lines")
	flags.StringVar(&f.onEvent, "on-event", "", "call `COMMAND` (by sh) on deaths, heals and the end, with the events as JSON lines on its stdin")
}

func (f *watchFlags) any() bool {
	return f.status != "" || f.events != "" || f.onEvent != "" || f.control
}

// isPage says whether a report is to be a page.
func isPage(report string) bool {
	return strings.HasSuffix(strings.ToLower(report), ".html") || strings.HasSuffix(strings.ToLower(report), ".htm")
}

// watched says whether anything shows the job beside its console.
func (f *runFlags) watched() bool { return f.watch.any() || isPage(f.report) }

// beginWatch has the job shown, if that is wanted.
func (f *runFlags) beginWatch() error {
	if !f.watched() {
		return nil
	}
	c := &f.config
	w := Watched{
		Name: console.NewName(c.Program), Status: f.watch.status, Token: os.Getenv(env.StatusToken), Events: f.watch.events, OnEvent: f.watch.onEvent, Control: f.watch.control,
		Tell: func(text string) { fmt.Fprintln(c.Stderr, "banyan:", text) },
	}
	if c.Requests != nil {
		w.Name = c.Requests.Info().Name
	}
	w.Spread = f.will != nil
	if f.begin == nil {
		return errors.New("this command shows no jobs: use banyan run")
	}
	shown, err := f.begin(w)
	if err != nil {
		return err
	}
	f.shown, c.Watch = shown, shown
	c.Counted = f.watch.status != "" || isPage(f.report)
	if f.will != nil {
		f.will.Shown = &succession.Shown{Settings: shown.Settings(), Counted: c.Counted, Events: absolute(f.watch.events), OnEvent: f.watch.onEvent}
	}
	f.ends = append(f.ends, func() { shown.Close() })
	return nil
}
