package succession

import "banyan/internal/proto/steward"

// A host that is drained leaves the electorate before its agent ends: else the voters would miss it
// until its lease is over, and another loss meanwhile could be one too many.

// part is launcher.Config's Part. This launcher's own host doesn't leave: it decides.
func (o *Owner) part(agent int, parted func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.agents[agent].Host
	if h == first {
		go parted()
		return
	}
	o.parting[h] = parted
	if o.leads {
		go o.driver.Drain(h)
	}
}

// HostLeft implements driver.Party.
func (o *Owner) HostLeft(h steward.Host) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if parted := o.parting[h]; parted != nil {
		delete(o.parting, h)
		go parted()
	}
}

// left notes that a host has left. If the launcher before had asked for that, this one knows it by
// its agent alone, which ends. The lock is held.
func (s *Successor) left(h steward.Host) {
	if parted := s.parting[h]; parted != nil {
		delete(s.parting, h)
		go parted()
		return
	}
	s.lose(h, "it was drained, and has left")
}

// part is launcher.Config's Part.
func (s *Successor) part(agent int, parted func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.legacy.Agents[agent].Host
	s.parting[h] = parted
	s.say(word{Drain: []steward.Host{h}})
}
