package replication

import (
	"fmt"
	"math"

	"banyan/internal/study/report"
)

// traffic is what the protocols send: section 2.4, and the reason for the overhead in section 4.3.
func (e *experiment) traffic() part {
	q := part{}
	all := e.items(Traffic)
	if len(all) == 0 {
		return q
	}
	x := all[0]
	t := &report.Table{
		Name: "traffic", Title: "Frames of a ping-pong", Caption: fmt.Sprintf("Of one run with %d replicas, counted in its trace.", x.replicas),
		Columns: []string{"setting", "messages", "of those without replicas", "acknowledgements", "for 100 messages"},
	}
	base := float64(x.frames(Alone).Messages)
	for _, w := range shown {
		if !x.has(w.setting) {
			continue
		}
		m := x.frames(w.setting)
		t.Rows = append(t.Rows, []string{
			w.name, report.Number(float64(m.Messages)), fmt.Sprintf("%.2f", float64(m.Messages)/base),
			report.Number(float64(m.Acknowledgements)), fmt.Sprintf("%.2f", per100(m)),
		})
	}
	q.section = report.Section{Title: "What is sent", Tables: []*report.Table{t}}
	r := float64(x.replicas)
	times := func(s Setting, what, paper string, want float64) {
		if !x.has(s) || !x.has(Alone) {
			return
		}
		got := float64(x.frames(s).Messages) / base
		c := report.Claim{Where: "section 2.4", What: what, Paper: paper, Ours: fmt.Sprintf("%.2f times as many", got), Verdict: report.Agrees}
		if math.Abs(got-want) > 0.02*want {
			c.Verdict, c.Explanation = report.Differs, "Counted in a trace of a ping-pong, with the messages of its barriers."
		}
		q.claims = append(q.claims, c)
	}
	times(Parallel, "the parallel protocol sends each message r times", fmt.Sprintf("q·r: %.0f times as many", r), r)
	times(Mirror, "the mirror protocol sends each message r² times", fmt.Sprintf("q·r²: %.0f times as many", r*r), r*r)
	if !x.has(Parallel) {
		return q
	}
	m := x.frames(Parallel)
	c := report.Claim{
		Where: "section 4.3", What: "an additional acknowledgement is sent for each message, to each other replica of its sender",
		Paper: fmt.Sprintf("%.0f for 100 messages", 100*(r-1)), Ours: fmt.Sprintf("%.2f for 100 messages", per100(m)), Verdict: report.Agrees,
	}
	if per100(m) < 90*(r-1) {
		c.Verdict = report.Differs
		c.Explanation = "Banyan acknowledges what has arrived once for 64 messages, 32 KiB or 5 ms (decision 27)."
		if x.has(Each) {
			c.Explanation += fmt.Sprintf(" Told to acknowledge each message it sends %.2f for 100.", per100(x.frames(Each)))
		}
	}
	q.claims = append(q.claims, c)
	return q
}

// frames are those of the first round.
func (x *item) frames(s Setting) Measurement {
	for _, round := range x.rounds(s) {
		return x.runs[s][round]
	}
	return Measurement{}
}

// per100 are the acknowledgements for 100 messages.
func per100(m Measurement) float64 { return 100 * float64(m.Acknowledgements) / float64(m.Messages) }
