package replication

import (
	"fmt"

	"banyan/internal/study/report"
)

// instructions are the part of figure 7 that depends neither on cores nor on load: what processors
// do for a message.
func (e *experiment) instructions() part {
	q := part{}
	type key struct {
		bytes   int
		setting Setting
		name    string
	}
	counts := map[key]int{}
	var sizes []int
	for _, m := range e.Measured {
		if m.Part == Instructions {
			if m.Setting == Alone && m.Name == Behind {
				sizes = append(sizes, m.Bytes)
			}
			counts[key{m.Bytes, m.Setting, m.Name}] = m.Instructions
		}
	}
	if len(sizes) == 0 {
		return q
	}
	t := &report.Table{
		Name: "instructions", Title: "Instructions of a message", Caption: "Of one message sent and one received, where nothing is waited for: the program finds what it receives. " +
			"The replica that is ahead keeps what it sends for the others. Acknowledgements aren't in it. " +
			"By the lane, messages of unreplicated jobs don't enter Go; replicated jobs have none, so overheads are those over the same way without it.",
		Columns: []string{"bytes", "not replicated, by the lane", "not replicated", "replicated, behind", "%", "replicated, ahead", "%", "mirror", "%"},
	}
	for _, size := range sizes {
		alone := counts[key{size, Alone, Behind}]
		lane := "—"
		if n := counts[key{size, Alone, ByLane}]; n > 0 {
			lane = report.Number(float64(n))
		}
		row := []string{report.Number(float64(size)), lane, report.Number(float64(alone))}
		for _, k := range []key{{size, Parallel, Behind}, {size, Parallel, Ahead}, {size, Mirror, Behind}} {
			if counts[k] == 0 {
				row = append(row, "—", "—")
				continue
			}
			row = append(row, report.Number(float64(counts[k])), percent(float64(counts[k])/float64(alone)))
		}
		t.Rows = append(t.Rows, row)
	}
	q.section = report.Section{Title: "Figure 7 in instructions", Tables: []*report.Table{t}}
	first := sizes[0]
	ratio := func(name string) float64 {
		return float64(counts[key{first, Parallel, name}]) / float64(counts[key{first, Alone, Behind}])
	}
	if behind, ahead := ratio(Behind), ratio(Ahead); behind > 0 && ahead > 0 {
		c := report.Claim{
			Where: "section 4.3, figure 7a", What: fmt.Sprintf("below 100 bytes the overhead is noticeable: in instructions of a message of %s", bytesText(first)),
			Paper: "more than 25 % of the time", Ours: fmt.Sprintf("%s to %s %%", percent(behind), percent(ahead)), Verdict: report.Agrees,
		}
		if ahead < 1+noticeable {
			c.Verdict = report.Differs
			c.Explanation = "The paper's overhead is the acknowledgement of each message. Banyan's are one for up to 64 messages, and not in this count; its is what numbering, keeping and releasing a message take."
		}
		q.claims = append(q.claims, c)
	}
	return q
}
