// Package metrics tells Prometheus how a job is: /metrics of banyan run --status. It is apart from
// package serve because it brings the Prometheus client, which only the command banyan links.
//
// Metrics are by host, by kind and by cause, never by rank: a job of 4,096 processes has as many
// series as one of two on the same hosts. What a single process does is on the page.
//
// # Limits
//
// Sums of what processes have counted fall when a process dies, with its part: Prometheus takes
// that for the counter's reset. A replacement counts from its own beginning.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"banyan/internal/job/status"
)

// Source says how the job is; ok is false before it has begun.
type Source func() (s status.State, ok bool)

// Handler answers /metrics.
func Handler(from Source) http.Handler {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(&collector{from})
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
}

type collector struct{ from Source }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("banyan_"+name, help, append([]string{"job_name"}, labels...), nil)
}

var (
	info         = describe("job_info", "The job: always 1.", "protocol", "transport")
	seconds      = describe("job_seconds", "How long the job has run, as the launcher last saw it.")
	ranks        = describe("ranks", "Ranks of the job.")
	processes    = describe("processes", "Processes by host and state.", "host", "state")
	hosts        = describe("hosts", "Hosts by state.", "state")
	cores        = describe("host_cores", "Cores of a host on which processes may run.", "host")
	view         = describe("view_number", "Number of the last view.")
	members      = describe("view_members", "Processes of the last view.")
	deaths       = describe("deaths_total", "Deaths of processes, by host and cause.", "host", "cause")
	heals        = describe("heals_total", "Replacements, by outcome.", "outcome")
	healSeconds  = describe("heal_seconds_total", "Time that replacements took which were healed.")
	unprotected  = describe("ranks_unprotected", "Ranks with one live replica.")
	lost         = describe("ranks_lost", "Ranks without a replica that lives or has left in order.")
	survives     = describe("deaths_survivable", "So many deaths lose no rank, whichever they are.")
	messages     = describe("messages_total", "Messages that live processes have sent.")
	bytes        = describe("bytes_total", "Bytes that live processes have sent, or read from other processes' memory.")
	frames       = describe("frames_total", "Frames that live processes have sent, heartbeats included.")
	unexpected   = describe("unexpected_messages", "Messages that have come and that no receive wants yet.")
	retained     = describe("retained_bytes", "Bytes that processes keep for other replicas, by host.", "host")
	safepoints   = describe("safepoints", "Safe points passed by the rank that has passed the fewest.")
	expected     = describe("safepoints_expected", "Safe points that rank passes in all, by the program's word; 0: it hasn't said.")
	left         = describe("seconds_left", "How long the rest takes at the pace of the last minute; 0: unknown.")
	rounds       = describe("detector_rounds_total", "Heartbeats that live processes have sent to their observers, one each period, by host.", "host")
	lateBeats    = describe("late_heartbeats_total", "Heartbeats that came more than two periods after the one before, by the host that waited.", "host")
	waiting      = describe("processes_waiting", "Processes that wait for others, by host.", "host")
	silent       = describe("heartbeat_late_seconds", "For how long the process that has been silent longest has counted nothing; 0: none is late.")
	stuck        = describe("ranks_in_circle", "Ranks that wait for each other in a circle.")
	descriptions = []*prometheus.Desc{info, seconds, ranks, processes, hosts, cores, view, members, deaths, heals, healSeconds, unprotected, lost, survives,
		messages, bytes, frames, unexpected, retained, safepoints, expected, left, rounds, lateBeats, waiting, silent, stuck}
)

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	s, ok := c.from()
	if !ok {
		return
	}
	put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, append([]string{s.Job.Name}, labels...)...)
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		put(d, prometheus.GaugeValue, value, labels...)
	}
	count := func(d *prometheus.Desc, value float64, labels ...string) {
		put(d, prometheus.CounterValue, value, labels...)
	}
	gauge(info, 1, s.Job.Protocol, s.Job.Transport)
	gauge(seconds, s.At)
	gauge(ranks, float64(s.Job.Ranks))
	gauge(view, float64(max(s.View, 1)))
	gauge(members, float64(s.Members))
	gauge(unprotected, float64(s.Survives.UnprotectedCount))
	gauge(lost, float64(len(s.Survives.Lost)))
	gauge(survives, float64(s.Survives.Any))
	count(heals, float64(s.Totals.Heals), "healed")
	count(heals, float64(s.Totals.HealsFailed), "failed")
	count(healSeconds, s.Totals.HealSeconds)
	byHost(&s, gauge, count)
	for _, d := range s.Deaths {
		count(deaths, float64(d.Count), d.Host, d.Cause)
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
	count(messages, float64(s.Totals.Sent))
	count(bytes, float64(s.Totals.Bytes))
	count(frames, float64(sent))
	gauge(unexpected, float64(s.Totals.Unexpected))
	gauge(safepoints, float64(s.Totals.Safepoints))
	gauge(expected, float64(s.Totals.Expected))
	gauge(left, s.Totals.Left)
	gauge(silent, late)
	gauge(stuck, float64(len(s.Circle)))
}

// byHost tells what is counted by host. Hosts with the same name are one.
func byHost(s *status.State, gauge, count func(d *prometheus.Desc, value float64, labels ...string)) {
	type key struct{ host, state string }
	states, there := map[key]float64{}, map[string]float64{}
	at := make(map[string]*struct{ cores, retained, waiting, rounds, late float64 })
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
			at[name(i)] = new(struct{ cores, retained, waiting, rounds, late float64 })
		}
		at[h.Name].cores += float64(h.Cores)
		states[key{h.Name, status.Live}] += 0
	}
	for i := range s.Slots {
		x := &s.Slots[i]
		states[key{name(x.Host), x.State}]++
		if here := at[name(x.Host)]; here != nil && x.Counters != nil && x.State != status.Dead {
			here.retained += float64(x.Counters.RetainedBytes)
			here.rounds += float64(x.Counters.Rounds)
			here.late += float64(x.Counters.Late)
			if x.Counters.Waits != "" {
				here.waiting++
			}
		}
	}
	for k, n := range states {
		gauge(processes, n, k.host, k.state)
	}
	for state, n := range there {
		gauge(hosts, n, state)
	}
	for host, x := range at {
		gauge(cores, x.cores, host)
		if s.Counting {
			gauge(retained, x.retained, host)
			gauge(waiting, x.waiting, host)
			count(rounds, x.rounds, host)
			count(lateBeats, x.late, host)
		}
	}
}
