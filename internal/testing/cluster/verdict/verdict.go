// Package verdict judges how a job ended on which hosts had died: whether its output and its report
// say the truth, and whether the job gave up only when it had to.
//
// # What is demanded
//
//   - A job that ends with code 0 has printed what an undisturbed one prints.
//   - A job that ends with "rank lost" has printed the beginning of that. Each rank that it calls
//     lost has no replica left, each replica has died of what the faults did to its host, and no
//     other rank has lost all replicas.
//   - A process that stops because too few others are left ("no majority") is one of those of which
//     at most half of the last view's members lived.
//   - No other end is right.
//
// # Limits
//
// It believes the report's times, which are those of one clock. Which process a fault hit without
// its host isn't known here: faults are those of hosts and their agents.
package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report is what is judged of a report of banyan run.
type Report struct {
	Ranks     int       `json:"ranks"`
	Replicas  int       `json:"replicas"`
	Start     time.Time `json:"start"`
	ExitCode  int       `json:"exit_code"`
	Outcome   string    `json:"outcome"`
	Reason    string    `json:"reason"`
	LostRanks []int     `json:"lost_ranks"`
	Hosts     []Host    `json:"hosts"`
	Deaths    []Death   `json:"deaths"`
	Heals     []Heal    `json:"heals"`
	Views     []View    `json:"views"`
}

// Host is a host of a Report.
type Host struct {
	Name      string `json:"name"`
	Processes []int  `json:"processes"`
}

// Death is one of a Report. Times are in seconds since the start.
type Death struct {
	Rank      int     `json:"rank"`
	Replica   int     `json:"replica"`
	Process   int     `json:"process"`
	Host      string  `json:"host"`
	Cause     string  `json:"cause"`
	Finalized bool    `json:"finalized"`
	At        float64 `json:"at_s"`
}

// Heal is one of a Report.
type Heal struct {
	Process int     `json:"process"`
	Host    string  `json:"host"`
	Began   float64 `json:"began_s"`
	Took    float64 `json:"took_s"`
	Error   string  `json:"error"`
}

// View is one of a Report.
type View struct {
	Members int     `json:"members"`
	At      float64 `json:"at_s"`
}

// Hit is a fault that ended a host, or all that the job had there.
type Hit struct {
	Host string // as the job calls it
	At   time.Time
}

// Ended is how a job ended.
type Ended struct {
	Code          int
	Printed, Want string // Want is what an undisturbed run prints
	Report        *Report
	Hits          []Hit
}

// The outcomes that are right.
const (
	Completed = "completed"
	RankLost  = "rank lost"
)

// Judge says what is wrong with how a job ended.
func (e *Ended) Judge() error {
	r := e.Report
	if e.Code != r.ExitCode {
		return fmt.Errorf("the exit code is %d, and %d in the report", e.Code, r.ExitCode)
	}
	switch r.Outcome {
	case Completed:
		switch {
		case e.Code != 0:
			return fmt.Errorf("it has completed with exit code %d", e.Code)
		case e.Printed != e.Want:
			return fmt.Errorf("it has completed, and its output isn't that of an undisturbed run: %s", difference(e.Printed, e.Want))
		}
		return nil
	case RankLost:
		switch {
		case e.Code == 0:
			return errors.New("a rank is lost, and the exit code is 0")
		case !strings.HasPrefix(e.Want, e.Printed):
			return fmt.Errorf("its output isn't the beginning of that of an undisturbed run: %s", difference(e.Printed, e.Want))
		}
		return e.lost()
	}
	return fmt.Errorf("the outcome is %q: %s", r.Outcome, r.Reason)
}

// slot is who fills a replica slot.
type slot struct {
	rank     int
	host     string
	alive    bool
	died     *Death // the last death
	needless bool   // no fault had hit its host
}

// change is a death or a replacement.
type change struct {
	at    float64
	death *Death
	heal  *Heal
}

// lost judges a job that has ended because ranks are lost.
func (e *Ended) lost() error {
	r := e.Report
	slots := make([]slot, r.Ranks*r.Replicas)
	for p := range slots {
		slots[p] = slot{rank: p % r.Ranks, alive: true}
	}
	for _, h := range r.Hosts {
		for _, p := range h.Processes {
			slots[p].host = h.Name
		}
	}
	var all []change
	for i, d := range r.Deaths {
		if !d.Finalized {
			all = append(all, change{at: d.At, death: &r.Deaths[i]})
		}
	}
	for i, h := range r.Heals {
		if h.Error == "" {
			all = append(all, change{at: h.Began + h.Took, heal: &r.Heals[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	for _, c := range all {
		if c.heal != nil {
			s := &slots[c.heal.Process]
			s.host, s.alive = c.heal.Host, true
			continue
		}
		s := &slots[c.death.Process]
		// A replacement may die before all others know it; then the report has no heal.
		s.host, s.alive, s.died, s.needless = c.death.Host, false, c.death, false
		if c.death.Cause != "exit" {
			s.needless = !e.hit(s.host, c.at)
		} else if err := e.minority(slots, c.at); err != nil {
			return fmt.Errorf("rank %d replica %d on %s: %w", c.death.Rank, c.death.Replica, c.death.Host, err)
		}
	}
	if len(r.LostRanks) == 0 {
		return errors.New("a rank is lost, and the report doesn't say which")
	}
	for rank := range r.Ranks {
		left := 0
		for p := rank; p < len(slots); p += r.Ranks {
			s := &slots[p]
			if s.alive {
				left++
			} else if s.needless && slices.Contains(r.LostRanks, rank) {
				return fmt.Errorf("rank %d is lost, and no fault had hit %s, where its replica %d died %.1f s after the start: %s",
					rank, s.died.Host, s.died.Replica, s.died.At, s.died.Cause)
			}
		}
		switch lost := slices.Contains(r.LostRanks, rank); {
		case lost && left > 0:
			return fmt.Errorf("rank %d is called lost, and has %d replicas", rank, left)
		case !lost && left == 0:
			return fmt.Errorf("rank %d has no replica left, and isn't called lost", rank)
		}
	}
	return nil
}

// hit says whether a fault has hit a host before a time of the report.
func (e *Ended) hit(host string, at float64) bool {
	return slices.ContainsFunc(e.Hits, func(h Hit) bool {
		return h.Host == host && h.At.Sub(e.Report.Start).Seconds() <= at
	})
}

// minority says what is wrong with a process that ended because too few others were left.
func (e *Ended) minority(slots []slot, at float64) error {
	members := len(slots)
	for _, v := range e.Report.Views {
		if v.At <= at {
			members = v.Members
		}
	}
	living := 0
	for _, s := range slots {
		if s.alive && !e.hit(s.host, at) {
			living++
		}
	}
	if 2*living > members {
		return fmt.Errorf("it has stopped %.1f s after the start, and %d of the last view's %d members lived", at, living, members)
	}
	return nil
}

// difference tells where two outputs differ first.
func difference(got, want string) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	piece := func(s string) string { return s[max(0, min(i-20, len(s))):min(len(s), i+60)] }
	return fmt.Sprintf("%d bytes, not %d; from byte %d on they differ: %q, not %q", len(got), len(want), i, piece(got), piece(want))
}
