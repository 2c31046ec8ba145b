package launcher

import (
	"banyan/internal/job/mailbox"
)

// reporter shows what happens in a job: notes to the user on stderr, and the report.
type reporter struct {
	report Report
	notes  *mailbox.Mailbox[string] // printed on a goroutine of its own: stderr may be stuck
	warned map[string]bool          // keys of the warnings that are given once
}

func newReporter(p *plan, screen Screen) *reporter {
	return &reporter{
		notes:  mailbox.New(func(s string) { screen.Note("banyan: " + s + "\n") }),
		warned: make(map[string]bool),
		report: Report{
			Command: p.command(), Ranks: p.ranks, Replicas: p.Replicas, Degrees: p.differing(), Protocol: p.Protocol,
			Transport: p.Transport, Outcome: OutcomeCompleted,
			Deaths: []Death{}, Heals: []Heal{}, Views: []View{}, Faults: []Fault{}, Warnings: []string{},
		},
	}
}

// note tells the user something.
func (r *reporter) note(text string) { r.notes.Put(text) }

// remark writes something into the report.
func (r *reporter) remark(text string) { r.report.Warnings = append(r.report.Warnings, text) }

// warn does both.
func (r *reporter) warn(text string) {
	r.remark(text)
	r.note(text)
}

// warnOnce warns, unless it has done so for the same key. Several replicas may tell the same.
func (r *reporter) warnOnce(key, text string) {
	if !r.warned[key] {
		r.warned[key] = true
		r.warn(text)
	}
}
