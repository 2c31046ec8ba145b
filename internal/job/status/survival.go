package status

// Survival is what the job can still lose.
type Survival struct {
	// Any deaths, whichever they are, lose no rank; Most lose none if they are the right ones. A
	// replacement that is under way counts as nothing.
	Any  int `json:"any"`
	Most int `json:"most"`
	// Unprotected are ranks with one live replica. Only the first MaxListed are listed.
	Unprotected      []int `json:"unprotected"`
	UnprotectedCount int   `json:"unprotected_count"`
	// Hosts says whether any one host may be lost; false, too, if there is only one.
	Hosts bool `json:"any_host"`
	// Lost are ranks without a replica that lives or has left in order.
	Lost []int `json:"lost"`
}

// MaxListed bounds lists of ranks.
const MaxListed = 256

// alive says whether a slot's process takes part in the job.
func alive(state string) bool {
	return state == Live || state == Donor || state == Starting || state == Silent
}

// survive says what a job can still lose, and counts for each host the ranks that live there alone.
func survive(slots []Slot, hosts []Host, ranks int) Survival {
	type rank struct {
		live, done, host int
		several          bool // on several hosts
	}
	all := make([]rank, ranks)
	for i := range slots {
		s := &slots[i]
		if s.Rank < 0 || s.Rank >= ranks {
			continue
		}
		r := &all[s.Rank]
		switch {
		case alive(s.State):
			r.several = r.several || r.live > 0 && r.host != s.Host
			r.live, r.host = r.live+1, s.Host
		case s.State == Finished:
			r.done++
		}
	}
	s := Survival{Any: -1, Unprotected: []int{}, Lost: []int{}, Hosts: true}
	for i := range hosts {
		hosts[i].Alone = 0
	}
	for i, r := range all {
		switch {
		case r.done > 0: // it has given all that the others need
		case r.live == 0:
			if s.Any = 0; len(s.Lost) < MaxListed {
				s.Lost = append(s.Lost, i)
			}
		default:
			if s.Any < 0 || r.live-1 < s.Any {
				s.Any = r.live - 1
			}
			s.Most += r.live - 1
			if r.live == 1 {
				if s.UnprotectedCount++; len(s.Unprotected) < MaxListed {
					s.Unprotected = append(s.Unprotected, i)
				}
			}
			if !r.several {
				s.Hosts = false
				if r.host >= 0 && r.host < len(hosts) {
					hosts[r.host].Alone++
				}
			}
		}
	}
	s.Any = max(s.Any, 0)
	return s
}
