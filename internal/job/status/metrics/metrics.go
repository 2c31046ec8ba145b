// Package metrics tells Prometheus how a job is: /metrics of banyan run --status.
//
// Metrics are by host, by kind and by cause, never by rank: a job of 4,096 processes has as many
// series as one of two on the same hosts. What a single process does is on the page.
//
// # Limits
//
// Sums of what processes have counted fall when a process dies, with its part: Prometheus takes
// that for the counter's reset. A replacement counts from its own beginning.
package metrics

import "banyan/internal/job/status"

// Source says how the job is; ok is false before it has begun.
type Source func() (s status.State, ok bool)

func describe(kind kind, name, help string, labels ...string) *description {
	return &description{"banyan_" + name, help, kind, labels}
}

var (
	info        = describe(gauge, "job_info", "The job: always 1.", "protocol", "transport")
	seconds     = describe(gauge, "job_seconds", "How long the job has run, as the launcher last saw it.")
	ranks       = describe(gauge, "ranks", "Ranks of the job.")
	processes   = describe(gauge, "processes", "Processes by host and state.", "host", "state")
	hosts       = describe(gauge, "hosts", "Hosts by state.", "state")
	cores       = describe(gauge, "host_cores", "Cores of a host on which processes may run.", "host")
	view        = describe(gauge, "view_number", "Number of the last view.")
	members     = describe(gauge, "view_members", "Processes of the last view.")
	deaths      = describe(counter, "deaths_total", "Deaths of processes, by host and cause.", "host", "cause")
	heals       = describe(counter, "heals_total", "Replacements, by outcome.", "outcome")
	healSeconds = describe(counter, "heal_seconds_total", "Time that replacements took which were healed.")
	unprotected = describe(gauge, "ranks_unprotected", "Ranks with one live replica.")
	lost        = describe(gauge, "ranks_lost", "Ranks without a replica that lives or has left in order.")
	survives    = describe(gauge, "deaths_survivable", "So many deaths lose no rank, whichever they are.")
	messages    = describe(counter, "messages_total", "Messages that live processes have sent.")
	bytes       = describe(counter, "bytes_total", "Bytes that live processes have sent, or read from other processes' memory.")
	frames      = describe(counter, "frames_total", "Frames that live processes have sent, heartbeats included.")
	unexpected  = describe(gauge, "unexpected_messages", "Messages that have come and that no receive wants yet.")
	retained    = describe(gauge, "retained_bytes", "Bytes that processes keep for other replicas, by host.", "host")
	safepoints  = describe(gauge, "safepoints", "Safe points passed by the rank that has passed the fewest.")
	waiting     = describe(gauge, "processes_waiting", "Processes that wait for others, by host.", "host")
	silent      = describe(gauge, "heartbeat_late_seconds", "For how long the process that has been silent longest has counted nothing; 0: none is late.")
	stuck       = describe(gauge, "ranks_in_circle", "Ranks that wait for each other in a circle.")
)

// collect adds all metrics of a job.
func (e *exposition) collect(s *status.State) {
	e.put(info, 1, s.Job.Protocol, s.Job.Transport)
	e.put(seconds, s.At)
	e.put(ranks, float64(s.Job.Ranks))
	e.put(view, float64(max(s.View, 1)))
	e.put(members, float64(s.Members))
	e.put(unprotected, float64(s.Survives.UnprotectedCount))
	e.put(lost, float64(len(s.Survives.Lost)))
	e.put(survives, float64(s.Survives.Any))
	e.put(heals, float64(s.Totals.Heals), "healed")
	e.put(heals, float64(s.Totals.HealsFailed), "failed")
	e.put(healSeconds, s.Totals.HealSeconds)
	e.byHost(s)
	for _, d := range s.Deaths {
		e.put(deaths, float64(d.Count), d.Host, d.Cause)
	}
	if !s.Counting {
		return
	}
	sent, late := uint64(0), 0.0
	for i := range s.Slots {
		if n := s.Slots[i].Counters; n != nil && s.Slots[i].State != status.Dead {
			sent, late = sent+n.Frames, max(late, n.Silence)
		}
	}
	e.put(messages, float64(s.Totals.Sent))
	e.put(bytes, float64(s.Totals.Bytes))
	e.put(frames, float64(sent))
	e.put(unexpected, float64(s.Totals.Unexpected))
	e.put(safepoints, float64(s.Totals.Safepoints))
	e.put(silent, late)
	e.put(stuck, float64(len(s.Circle)))
}

// byHost tells what is counted by host. Hosts with the same name are one.
func (e *exposition) byHost(s *status.State) {
	type key struct{ host, state string }
	states, there := map[key]float64{}, map[string]float64{}
	at := make(map[string]*struct{ cores, retained, waiting float64 })
	name := func(host int) string {
		if host < 0 || host >= len(s.Hosts) {
			return ""
		}
		return s.Hosts[host].Name
	}
	for _, state := range []string{status.HostRuns, status.HostWaits, status.HostDrains, status.HostLeft, status.HostLost} {
		there[state] = 0
	}
	for i, h := range s.Hosts {
		there[h.State]++
		if at[name(i)] == nil {
			at[name(i)] = new(struct{ cores, retained, waiting float64 })
		}
		at[h.Name].cores += float64(h.Cores)
		states[key{h.Name, status.Live}] += 0
	}
	for i := range s.Slots {
		x := &s.Slots[i]
		states[key{name(x.Host), x.State}]++
		if here := at[name(x.Host)]; here != nil && x.Counters != nil && x.State != status.Dead {
			here.retained += float64(x.Counters.RetainedBytes)
			if x.Counters.Waits != "" {
				here.waiting++
			}
		}
	}
	for k, n := range states {
		e.put(processes, n, k.host, k.state)
	}
	for state, n := range there {
		e.put(hosts, n, state)
	}
	for host, x := range at {
		e.put(cores, x.cores, host)
		if s.Counting {
			e.put(retained, x.retained, host)
			e.put(waiting, x.waiting, host)
		}
	}
}
