package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"banyan/internal/job/agent/remote"
	"banyan/internal/job/hosts"
	"banyan/internal/job/launcher"
	"banyan/internal/job/placement"
	"banyan/internal/job/starter"
)

// Add starts agents on further hosts, and adds those that come up to a job that runs. It returns
// their names; the error tells of those that don't come. If ctx ends before they are there they
// aren't started; see launcher.Config.
func (f *Fleet) Add(ctx context.Context, text string, tell func(text string)) (names []string, err error) {
	list, err := hosts.ParseList(text)
	switch {
	case err != nil:
		return nil, err
	case f.config.Join != nil:
		return nil, errors.New("the agents of this job come by themselves: start another one (banyan agent --join), and it is added")
	case f.listener == nil:
		return nil, errors.New("no other host can reach this job, because all its hosts are its console's machine")
	}
	limited, cancel := context.WithTimeout(ctx, f.config.Limit)
	defer cancel()
	added, errs := make([]string, len(list)), make([]error, len(list))
	f.mu.Lock()
	first := f.next
	f.next += len(list)
	f.mu.Unlock()
	var all sync.WaitGroup
	for i, h := range list {
		tell(h.Name + " is started")
		all.Go(func() { added[i], errs[i] = f.addOne(limited, h, first+i) })
	}
	all.Wait()
	var failed []string
	for i, h := range list {
		if errs[i] != nil {
			failed = append(failed, fmt.Sprintf("%s hasn't come up: %v", h.Name, errs[i]))
		} else {
			names = append(names, added[i])
		}
	}
	if len(failed) == 0 {
		return names, nil
	}
	text = strings.Join(failed, "; ")
	if len(names) > 0 {
		text += "; added: " + strings.Join(names, ", ")
	}
	return names, errors.New(text)
}

// addOne starts the agent of a host, and adds it.
func (f *Fleet) addOne(ctx context.Context, h hosts.Host, number int) (name string, err error) {
	r, err := f.startOne(ctx, h, number)
	if err != nil {
		return "", err
	}
	return f.admit(r, placement.Host{Name: h.Name, Slots: h.Slots, Max: h.Max, Rack: h.Rack, Zone: h.Zone})
}

// startOne starts the agent of a host.
func (f *Fleet) startOne(ctx context.Context, h hosts.Host, number int) (*remote.Remote, error) {
	starting, stop := context.WithCancelCause(f.running)
	user := h.Name
	if h.User != "" {
		user = h.User + "@" + h.Name
	}
	crew := &starter.Crew{How: f.config.How, Self: f.config.Self, Order: f.config.Order, Key: f.key, Agents: []starter.Agent{{Number: number, Host: user}},
		Lost: func(_ int, why error) { stop(why) },
		Line: func(_ int, text string) { f.note(h.Name + ": " + text) },
	}
	crew.Order.Connect = f.listener.Addresses()
	if f.running.Err() != nil {
		return nil, errors.New("the job has ended")
	}
	f.starters.Go(func() { crew.Run(starting); stop(nil) })
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(starting, cancel)()
	r, err := f.listener.Expect(waiting, number)
	if err != nil {
		if cause := context.Cause(starting); cause != nil {
			err = cause
		}
		if errors.Is(err, remote.ErrClosed) || f.running.Err() != nil {
			err = errors.New("the job has ended")
		}
		stop(err)
		return nil, err
	}
	crew.Up(number)
	return r, nil
}

// startWitness starts the agent of the witness. Without it the job runs all the same.
func (f *Fleet) startWitness(ctx context.Context) {
	h := f.config.Witness
	switch {
	case h == nil:
		return
	case f.listener == nil:
		f.note(fmt.Sprintf("the witness %s isn't needed: all processes run on this machine, and end with it", h.Name))
		return
	}
	f.mu.Lock()
	number := f.next
	f.next++
	f.mu.Unlock()
	r, err := f.startOne(ctx, *h, number)
	if err != nil {
		f.note(fmt.Sprintf("the witness %s hasn't come up: %v", h.Name, err))
		return
	}
	f.witness = r
}

// admit adds a host to a job that runs. It returns what the job calls it: no two hosts have the
// same name.
func (f *Fleet) admit(r *remote.Remote, h placement.Host) (name string, err error) {
	f.adding.Lock()
	defer f.adding.Unlock()
	f.mu.Lock()
	h.Name, h.Kernel = f.unique(h.Name), r.Host().Boot
	h.Spare = true // for replacements of all programs
	f.job.Hosts = append(f.job.Hosts, h)
	f.mu.Unlock()
	// It is added, even if the one who asked for it has gone.
	select {
	case f.arrivals <- launcher.Arrival{Agent: r, Name: h.Name}:
		return h.Name, nil
	case <-f.running.Done():
		return "", errors.New("the job has ended")
	}
}

// unique is a name that no host of the job has.
func (f *Fleet) unique(name string) string {
	own := name
	for n := 2; f.index(own) >= 0; n++ {
		own = fmt.Sprintf("%s#%d", name, n)
	}
	return own
}

// index is the host of a name, -1 if there is none.
func (f *Fleet) index(name string) int {
	for i, h := range f.job.Hosts {
		if h.Name == name {
			return i
		}
	}
	return -1
}
