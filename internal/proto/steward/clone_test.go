package steward

import "slices"

// clone copies a machine. What messages and ledgers point to isn't changed, and so is shared.
func (a *Agent) clone() *Agent {
	b := *a
	b.voter.granted, b.voter.doubted = slices.Clone(a.voter.granted), slices.Clone(a.voter.doubted)
	b.lease.questions = slices.Clone(a.lease.questions)
	for i := range b.lease.questions {
		q := &b.lease.questions[i]
		q.answers = slices.Clone(q.answers)
	}
	b.own, b.unnoted = slices.Clone(a.own), slices.Clone(a.unnoted)
	if a.campaign != nil {
		c := *a.campaign
		c.asked, c.from, c.known = slices.Clone(c.asked), slices.Clone(c.from), slices.Clone(c.known)
		b.campaign = &c
	}
	if a.steward != nil {
		s := *a.steward
		s.versions, s.wrote, s.then, s.waiting = slices.Clone(s.versions), slices.Clone(s.wrote), slices.Clone(s.then), slices.Clone(s.waiting)
		if s.draft != nil {
			s.draft = s.draft.clone()
		}
		b.steward = &s
	}
	return &b
}

func (w *Witness) clone() *Witness {
	c := *w
	c.voter.granted, c.voter.doubted = slices.Clone(w.voter.granted), slices.Clone(w.voter.doubted)
	return &c
}
