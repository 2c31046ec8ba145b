// Package page measures what the page of "banyan run --status" costs the job that it shows.
//
// A program runs without the page, with the page and nobody who looks, and with the page and a
// reader, which takes in all that a browser's page gets: the state at first, and then the events
// and counters as they come. The three run in turn, in one order and then in the other, so that a
// machine that gets slower favours none. A ratio is that of the times of one round.
//
// # Limits
//
// The reader runs on the machine of the job and takes part of its cores, as a browser there would;
// what it takes is told.
package page

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"banyan/internal/study/ratio"
)

// Setting is how the job is shown.
type Setting string

const (
	Off  Setting = "off"  // there is no page
	On   Setting = "on"   // nobody has it open
	Open Setting = "open" // a reader has it open
)

// settings are all, in the order of a first round.
var settings = []Setting{Off, On, Open}

// Plan is what is to be measured.
type Plan struct {
	Banyan string   // the command
	Args   []string // flags of banyan run without --status, and the program
	Rounds int      // at least 1
}

// job is one that has ended.
type job struct {
	took  time.Duration // from its start to its end
	cpu   time.Duration // of its processes
	bytes int64         // that the reader got
}

// Row is what was measured of a setting.
type Row struct {
	Setting Setting
	// Seconds is the median time of a job, and CPU that of its processors.
	Seconds, CPU float64
	// Time and Processor are the ratios to the job without a page.
	Time, Processor ratio.Estimate
	// Bytes is what the reader got in a job, in the median.
	Bytes float64
}

// Run measures a plan. It calls progress after each job. If ctx ends it early, the rows are of the
// rounds that are whole, beside the error.
func Run(ctx context.Context, p *Plan, progress func()) ([]Row, error) {
	done := make(map[Setting][]job)
	for round := range p.Rounds {
		these := make(map[Setting]job)
		for _, s := range ratio.InTurn(settings, round) {
			j, err := measure(ctx, p, s)
			if err != nil {
				return rows(done), errors.Join(ctx.Err(), err)
			}
			these[s] = j
			progress()
		}
		for s, j := range these {
			done[s] = append(done[s], j)
		}
	}
	return rows(done), nil
}

// measure runs one job.
func measure(ctx context.Context, p *Plan, s Setting) (j job, err error) {
	args := []string{"run"}
	if s != Off {
		args = append(args, "--status", "127.0.0.1:0")
	}
	cmd := exec.CommandContext(ctx, p.Banyan, append(args, p.Args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it ends its processes
	cmd.WaitDelay = 10 * time.Second
	said := &said{address: make(chan string, 1)}
	cmd.Stderr = said
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return j, err
	}
	reading, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var unread error
	if s == Open {
		wg.Go(func() { j.bytes, unread = read(reading, said.address) })
	}
	err = cmd.Wait()
	j.took = time.Since(begin)
	stop() // the page ends with the job, if it was there at all
	wg.Wait()
	if err != nil {
		return j, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, said.last())
	}
	if s == Open && (unread != nil || j.bytes == 0) {
		return j, fmt.Errorf("the page couldn't be read: %w", errors.Join(unread, errors.New(said.last())))
	}
	j.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return j, nil
}

// shownAt is before the page's address on stderr.
const shownAt = "the job is shown at "

// maxSaid bounds what is kept of stderr.
const maxSaid = 4096

// said keeps the end of what a job says, and finds the page's address.
type said struct {
	mu      sync.Mutex
	text    []byte
	found   bool
	address chan string
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b...)
	if _, rest, ok := strings.Cut(string(s.text), shownAt); ok && !s.found {
		if address, _, whole := strings.Cut(rest, "\n"); whole {
			s.found = true
			s.address <- strings.TrimSpace(address)
		}
	}
	if len(s.text) > maxSaid {
		s.text = s.text[len(s.text)-maxSaid:]
	}
	return len(b), nil
}

func (s *said) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.text))
}

// read reads the page as a browser does, until ctx ends, and counts the bytes.
func read(ctx context.Context, address <-chan string) (n int64, err error) {
	var page string
	select {
	case page = <-address:
	case <-ctx.Done():
		return 0, errors.New("the job has ended without telling the page's address")
	}
	base, query, _ := strings.Cut(page, "?")
	for _, path := range []string{"", "api/events"} { // the events begin with the state
		more, err := get(ctx, base+path+"?"+query)
		if n += more; err != nil && ctx.Err() == nil {
			return n, err
		}
	}
	return n, nil
}

// get reads a response to its end, or to that of the job.
func get(ctx context.Context, url string) (n int64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", url, answer.Status)
	}
	n, err = io.Copy(io.Discard, bufio.NewReader(answer.Body))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the job has ended
	}
	return n, err
}
