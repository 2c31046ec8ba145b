package launcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"banyan/internal/job/console"
	"banyan/internal/job/status"
)

// errEnded answers requests that come too late.
var errEnded = errors.New("the job has ended")

// answerRequests has the job's server answer what is asked of its hosts.
func (j *job) answerRequests() {
	if j.Requests == nil {
		return
	}
	console.Handle(j.Requests, console.HostsRequest, j.answerHosts)
	console.Handle(j.Requests, console.AddHostsRequest, j.answerAdd)
	console.Handle(j.Requests, console.DrainHostsRequest, j.answerDrain)
	console.Handle(j.Requests, console.StateRequest, func(_ context.Context, _ struct{}, tell func(string)) (*status.State, error) {
		return j.answerState(tell)
	})
}

// ask has the loop call f, and waits until it has. It returns false if the job has ended.
func (j *job) ask(f func()) bool {
	done := make(chan struct{})
	j.post(func() { f(); close(done) })
	select {
	case <-done:
		return true
	case <-j.over:
		return false
	}
}

func (j *job) answerHosts(context.Context, struct{}, func(string)) (all []console.Host, err error) {
	if !j.ask(func() { all = j.hostList() }) {
		return nil, errEnded
	}
	return all, nil
}

// hostList describes the hosts.
func (j *job) hostList() (all []console.Host) {
	for host, found := range j.hosts.found {
		there, ranks := j.there(host), []int{}
		for _, p := range there {
			ranks = append(ranks, int(j.ledger.Rank(p.id)))
		}
		slices.Sort(ranks)
		r := j.report.Hosts[host]
		x := console.Host{Name: found.Name, State: console.HostRuns, Cores: len(found.Cores), Processes: len(there), Ranks: listed(slices.Compact(ranks)), Reason: r.Reason}
		switch {
		case r.Lost != nil:
			x.State = console.HostLost
		case r.Left != nil:
			x.State = console.HostLeft
		case j.hosts.drains[host] != nil:
			x.State = console.HostDrains
		case len(there) == 0:
			x.State = console.HostWaits
		}
		all = append(all, x)
	}
	return all
}

func (j *job) answerAdd(ctx context.Context, q console.AddHosts, tell func(string)) (console.HostsChanged, error) {
	if j.AddHosts == nil {
		return console.HostsChanged{}, errors.New("this job has only processes on its console's machine, and they can't be reached from others: start it with --host or --hostfile, and hosts can be added")
	}
	names, err := j.AddHosts(ctx, q.Hosts, tell)
	return console.HostsChanged{Names: names}, err
}

// drainNews is how often the other side hears how a drain goes on.
const drainNews = 2 * time.Second

func (j *job) answerDrain(ctx context.Context, q console.DrainHosts, tell func(string)) (a console.HostsChanged, err error) {
	var drains []*drain
	if !j.ask(func() { drains, err = j.beginDrains(q.Names, q.Force, q.Within) }) {
		return a, errEnded
	}
	if err != nil {
		return a, err
	}
	var late <-chan time.Time
	if q.Within > 0 {
		late = time.After(q.Within)
	}
	news := time.NewTicker(drainNews)
	defer news.Stop()
	for _, d := range drains {
		for waiting := true; waiting; {
			select {
			case <-d.over:
				waiting = false
			case <-late:
				j.post(func() {
					for _, d := range drains {
						d.late = true
					}
				})
			case <-news.C:
				var text string
				if j.ask(func() { text = j.drainState(d) }) {
					tell(text)
				}
			case <-j.over:
				return a, errEnded
			case <-ctx.Done(): // the hosts are drained all the same
				return a, ctx.Err()
			}
		}
		if d.err != nil {
			return a, d.err
		}
		a.Names = append(a.Names, d.name)
	}
	return a, nil
}

// drainState tells how a drain goes on.
func (j *job) drainState(d *drain) string {
	name := d.name
	switch left := j.there(d.host); {
	case d.parting:
		return fmt.Sprintf("%s waits until others decide without it, and the output that it alone has was shown", name)
	case len(left) == 0:
		return fmt.Sprintf("%s waits until the last replacement has its state", name)
	case j.recovery != nil && len(j.recovery.Attempts()) == 0 && !slices.ContainsFunc(left, func(p *process) bool { return j.ledger.entries[p.id].retired }):
		return fmt.Sprintf("%d of %d processes are still on %s; the next one waits for another replica at a safe point, or for a host", len(left), len(d.moved), name)
	default:
		return fmt.Sprintf("%d of %d processes are still on %s", len(left), len(d.moved), name)
	}
}
