package sim

import (
	"banyan/internal/study/replication"
	"banyan/internal/study/table"
)

// replicationRow is a replicated job beside the same job without replicas.
type replicationRow struct {
	s         replication.Settings
	native, o *replication.Outcome
}

// replicationForPrograms are the columns that a table of several rows leaves out for people.
var replicationForPrograms = []string{
	"pattern", "steps", "compute_us", "jitter", "native_messages", "native_bytes", "offers", "pulls", "data", "ack_records", "reports",
	"healing_notes", "duplicates", "unexpected", "early", "retained_messages",
}

// replicationHealing are those that it leaves out if nobody is replaced.
var replicationHealing = []string{"healed", "healing_ms", "donor_pause_us"}

var replicationColumns = []table.Column[replicationRow]{
	table.Col("pattern", func(r *replicationRow) any { return r.s.Pattern.Kind }),
	table.Col("ranks", func(r *replicationRow) any { return r.s.Pattern.Ranks }),
	table.Col("replicas", func(r *replicationRow) any { return r.s.Degree }),
	table.Col("protocol", func(r *replicationRow) any {
		switch {
		case r.s.Mirror:
			return "mirror"
		case r.s.Printed:
			return "printed"
		}
		return "parallel"
	}),
	table.Col("bytes", func(r *replicationRow) any { return r.s.Pattern.Bytes }),
	table.Col("steps", func(r *replicationRow) any { return r.s.Steps }),
	table.Col("compute_us", func(r *replicationRow) any { return microseconds(r.s.Compute, true) }),
	table.Col("jitter", func(r *replicationRow) any { return r.s.Jitter }),
	table.Col("native_ms", func(r *replicationRow) any { return float64(r.native.Time) / 1e6 }),
	table.Col("replicated_ms", func(r *replicationRow) any { return float64(r.o.Time) / 1e6 }),
	table.Col("overhead_%", func(r *replicationRow) any {
		return table.Optional(100*(float64(r.o.Time)/float64(r.native.Time)-1), r.native.Time > 0)
	}),
	table.Col("deaths", func(r *replicationRow) any { return r.o.Deaths }),
	table.Col("pause_us", func(r *replicationRow) any { return microseconds(r.o.Pause, r.o.Pause > 0) }),
	table.Col("healed", func(r *replicationRow) any { return r.o.Healed }),
	table.Col("healing_ms", func(r *replicationRow) any {
		return table.Optional(float64(r.o.Healing)/1e6, r.o.Healed > 0)
	}),
	table.Col("donor_pause_us", func(r *replicationRow) any { return microseconds(r.o.DonorPause, r.o.Healed > 0) }),
	table.Col("retained_peak", func(r *replicationRow) any { return r.o.RetainedPeak }),
	table.Col("retained_mean", func(r *replicationRow) any { return r.o.RetainedMean }),
	table.Col("retained_messages", func(r *replicationRow) any { return r.o.RetainedMessages }),
	table.Col("native_messages", func(r *replicationRow) any { return r.native.Messages + r.native.Offers }),
	table.Col("native_bytes", func(r *replicationRow) any { return r.native.Bytes }),
	table.Col("messages", func(r *replicationRow) any { return r.o.Messages }),
	table.Col("offers", func(r *replicationRow) any { return r.o.Offers }),
	table.Col("pulls", func(r *replicationRow) any { return r.o.Pulls }),
	table.Col("data", func(r *replicationRow) any { return r.o.Data }),
	table.Col("acks", func(r *replicationRow) any { return r.o.Acks }),
	table.Col("ack_records", func(r *replicationRow) any { return r.o.Records }),
	table.Col("reports", func(r *replicationRow) any { return r.o.Reports }),
	table.Col("healing_notes", func(r *replicationRow) any { return r.o.Notes }),
	table.Col("sent_bytes", func(r *replicationRow) any { return r.o.Bytes }),
	table.Col("duplicates", func(r *replicationRow) any { return r.o.Duplicates }),
	table.Col("unexpected", func(r *replicationRow) any { return r.o.Unexpected }),
	table.Col("early", func(r *replicationRow) any { return r.o.Early }),
}
