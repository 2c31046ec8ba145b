package replication

import (
	"fmt"

	"banyan/internal/proto"
)

// tally is what one process counts.
type tally struct {
	messages, offers, pulls, data, acks, records, reports int64
	bytes                                                 int64
	duplicates, unexpected, early                         int64
	notes, states, deaths, healed                         int64
	finished, diedAt                                      proto.Time
	away                                                  proto.Time // from deaths to their replacements
	pause, donorPause, healing                            proto.Time

	retained     uint64 // now
	since        proto.Time
	area         float64 // bytes · nanoseconds
	peak         uint64
	peakMessages int
}

// retains notes a change of what is retained.
func (t *tally) retains(n *node) {
	messages, bytes := n.machine.Retained()
	if n.phase != finished {
		t.area += float64(t.retained) * float64(n.now-t.since)
	}
	t.since, t.retained = n.now, bytes
	t.peak, t.peakMessages = max(t.peak, bytes), max(t.peakMessages, messages)
}

// Outcome is what happened in a job.
type Outcome struct {
	// Time is when the last live process was through with its program.
	Time proto.Time
	// Messages are sent whole, Offers are of those that are too large; Pulls ask for their data,
	// and Data are the frames that carry it. Acks are the frames of acknowledgements, Records what
	// is in them. Reports are of the mirror protocol.
	Messages, Offers, Pulls, Data, Acks, Records, Reports int64
	// Bytes are those of all frames, with their headers and stamps.
	Bytes int64
	// Duplicates were dropped. Unexpected came before their receive. Early came before their
	// cause.
	Duplicates, Unexpected, Early int64
	Deaths                        int
	// Pause is the longest time from a death until a process that had received from the dead one
	// had the next message of its rank; 0 if no process did. With mirror nobody waits.
	Pause proto.Time
	// Healed is how many of the dead were replaced. Healing is the longest time from a death until
	// the replacement's program went on, DonorPause the longest time that a donor's program paused.
	Healed              int
	Healing, DonorPause proto.Time
	// Notes are the frames of the conversation about replacements, States those of donors' states.
	Notes, States int64
	// RetainedPeak is how many bytes some process retained at most, RetainedMessages how many
	// messages. RetainedMean is the mean over processes and the time until each was through.
	RetainedPeak     uint64
	RetainedMessages int
	RetainedMean     float64
}

// Frames are those of all kinds.
func (o *Outcome) Frames() int64 {
	return o.Messages + o.Offers + o.Pulls + o.Data + o.Acks + o.Reports + o.Notes + o.States
}

func (j *job) outcome(nodes []*node) (*Outcome, error) {
	o := &Outcome{}
	var area, lived float64
	stuck, example := 0, (*node)(nil)
	for _, n := range nodes {
		t := &n.tally
		o.Messages += t.messages
		o.Offers += t.offers
		o.Pulls += t.pulls
		o.Data += t.data
		o.Acks += t.acks
		o.Records += t.records
		o.Reports += t.reports
		o.Bytes += t.bytes
		o.Duplicates += t.duplicates
		o.Unexpected += t.unexpected
		o.Early += t.early
		o.Notes += t.notes
		o.States += t.states
		o.Deaths += int(t.deaths)
		o.Healed += int(t.healed)
		o.Pause = max(o.Pause, t.pause)
		o.Healing = max(o.Healing, t.healing)
		o.DonorPause = max(o.DonorPause, t.donorPause)
		o.RetainedPeak = max(o.RetainedPeak, t.peak)
		o.RetainedMessages = max(o.RetainedMessages, t.peakMessages)
		area += t.area
		switch {
		case n.phase == dead:
			lived += float64(t.diedAt - t.away)
		case t.finished > 0 || n.phase == finished:
			o.Time = max(o.Time, t.finished)
			lived += float64(t.finished - t.away)
		default:
			stuck, example = stuck+1, n
		}
	}
	if j.lostAt != proto.Never {
		return nil, &Lost{j.lostRank, j.lostAt}
	}
	if stuck > 0 {
		return nil, fmt.Errorf("%d processes wait for ever, %v (%v) in step %d for %d operations", stuck, example.self, example.rank, example.step, example.underway)
	}
	if lived > 0 {
		o.RetainedMean = area / lived
	}
	return o, nil
}
