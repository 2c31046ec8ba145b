package membership

import (
	"fmt"

	"banyan/internal/proto"
	"banyan/internal/study/driver/viewsim"
	"banyan/internal/study/planning/viewtime"
	"banyan/internal/study/report"
)

// studyProtocol counts what the protocol sends, and checks what it promises.
func (e *experiment) studyProtocol() (part, error) {
	var q part
	for _, study := range []func() ([]report.Claim, error){e.messageClaims, e.faultClaims, e.phaseClaims, e.consistencyClaims} {
		claims, err := study()
		if err != nil {
			return part{}, err
		}
		q.claims = append(q.claims, claims...)
	}
	return q, nil
}

// messageClaims counts messages, simulated and measured.
func (e *experiment) messageClaims() ([]report.Claim, error) {
	exact, simulated := 0, 0
	for _, arity := range []int{2, 4, 8} {
		for live := 2; live <= e.Switch; live++ {
			p, err := e.once(live, arity)
			if err != nil {
				return nil, err
			}
			simulated++
			if want := live - 1; p.traffic == (viewsim.Traffic{Propose: want, Ack: want, Commit: want}) {
				exact++
			}
		}
	}
	measured := 0
	for _, m := range e.Measured {
		if m.Messages == 3*(m.Live-1) {
			measured++
		}
	}
	agree := report.Claim{
		Where: "section 3.4", What: "one message down and one acknowledgement up for each node but the root, to agree",
		Paper: "2(n−1)", Ours: fmt.Sprintf("2(n−1) and n−1 to commit in %d of %d simulated changes", exact, simulated),
		Verdict: verdict(exact == simulated), Explanation: "Whoever died, and with 2, 4 or 8 children.",
	}
	if len(e.Measured) > 0 {
		agree.Ours += fmt.Sprintf(", 3(n−1) messages in %d of %d measured ones", measured, len(e.Measured))
		agree.Verdict = verdict(exact == simulated && measured == len(e.Measured))
		agree.Explanation = "Words of the death to the coordinator aren't counted. One that comes when it has proposed already makes it propose again."
	}
	return []report.Claim{agree, {
		Where: "section 8", What: "a node has its new view when it has received one message, from its parent",
		Paper: "1 message", Ours: "2: the proposal and the commit", Difference: report.Difference(1, 2), Verdict: report.Differs,
		Explanation: "If nodes install what they are told at once, and the root dies on the way, some have a view that the next root never heard of. So a view is proposed, acknowledged, and only then installed. " +
			"It costs n−1 messages more, and half of the time again until all have it; until the coordinator knows that all agree, it takes no longer.",
	}}, nil
}

// faultClaims compares the time of other faults with that of a node's death.
func (e *experiment) faultClaims() ([]report.Claim, error) {
	stable := map[viewsim.FaultKind]float64{}
	for _, kind := range []viewsim.FaultKind{viewsim.Node, viewsim.Root, viewsim.Join} {
		s := e.settings(kind)
		if kind == viewsim.Join {
			s.Nodes-- // as many members agree as after a death
		}
		outcomes, err := e.campaign("fault "+s.Fault.String(), s, e.Runs)
		if err != nil {
			return nil, err
		}
		stable[kind] = viewsim.Summarise(outcomes).Stable / 1e3
	}
	against := func(kind viewsim.FaultKind) string {
		return fmt.Sprintf("%.2f ms, a node's death %.2f (L = 118 µs, %d nodes, one of them dead, 2 children)", stable[kind]/1e3, stable[viewsim.Node]/1e3, e.Switch)
	}
	return []report.Claim{
		{
			Where: "section 3.6", What: "a root's failure is handled as any node's, by its successor",
			Paper: "the same procedure", Ours: against(viewsim.Root), Verdict: verdict(stable[viewsim.Root] < 1.1*stable[viewsim.Node]),
			Explanation: "The successor must first ask all what they have accepted, since the dead root may have proposed something that is in force somewhere: one more way down and up.",
		},
		{
			Where: "section 3.7", What: "a join propagates in the same way as a failure",
			Paper: "the same way", Ours: against(viewsim.Join), Verdict: verdict(stable[viewsim.Join] < 1.1*stable[viewsim.Node] && stable[viewsim.Join] > 0.9*stable[viewsim.Node]),
			Explanation: "Those who agree go through the same tree.",
		},
	}, nil
}

// phaseClaims has as many nodes die at once as the tree has levels below the root, and counts how
// often the change goes down the tree.
func (e *experiment) phaseClaims() ([]report.Claim, error) {
	levels := viewtime.Levels(e.Switch, 2) - 1
	phases := func(gather proto.Time) (mean, most float64, err error) {
		s := e.settings(viewsim.Several)
		s.Fault.Count, s.Gather = levels, gather
		s.Spread = 10 * ethernet.halfRoundTrip()
		outcomes, err := e.campaign(fmt.Sprintf("fault %v, gathering for %d µs", s.Fault, gather/1000), s, e.Faulty)
		for _, o := range outcomes {
			n := float64(o.Traffic.Propose) / float64(s.Nodes-levels-1)
			mean, most = mean+n/float64(len(outcomes)), max(most, n)
		}
		return mean, most, err
	}
	mean, most, err := phases(0)
	if err != nil {
		return nil, err
	}
	gathered, _, err := phases(jobGather)
	return []report.Claim{{
		Where: "section 3.5", What: "failures on every level of the tree take a stabilisation phase for each level below the root",
		Paper:   fmt.Sprintf("H − 1 = %d phases", levels),
		Ours:    fmt.Sprintf("of %d deaths at once among %d nodes, each told to each node at a time of its own: %.1f phases in the mean, %.1f at most; %.1f with a coordinator that gathers for 5 ms, as in jobs", levels, e.Switch, mean, most, gathered),
		Verdict: verdict(mean <= float64(levels)),
		Explanation: "A phase is a proposal to each node that is left; one that is overtaken by the next counts by what was sent. The paper's nodes find the dead of the next level when these don't acknowledge; " +
			"here the coordinator has them all from the detector.",
	}}, err
}

// jobGather is how long a coordinator gathers in a job with the default heartbeat period, in ns.
const jobGather = 5_000_000

// settings are those of the paper's cluster.
func (e *experiment) settings(kind viewsim.FaultKind) viewsim.Settings {
	return viewsim.Settings{
		Nodes: e.Switch, Arity: 2, Fault: viewsim.Fault{Kind: kind},
		Latency: ethernet.latency, Overhead: ethernet.overhead, Compute: ethernet.compute, Detection: proto.Time(1e6),
	}
}

// consistencyClaims has the root die while it spreads news of another death, under the paper's
// protocol as printed, as its text suggests, and under ours.
func (e *experiment) consistencyClaims() ([]report.Claim, error) {
	var claims []report.Claim
	for _, protocol := range []viewsim.Protocol{viewsim.Paper, viewsim.PaperLists, viewsim.Banyan} {
		for _, fault := range []viewsim.Fault{{Kind: viewsim.Takeover}, {Kind: viewsim.Several, Count: 3}} {
			s := e.settings(fault.Kind)
			s.Fault, s.Protocol = fault, protocol
			s.Within = 10 * ethernet.halfRoundTrip() // about as long as a view takes to stabilise
			s.Spread = s.Within
			outcomes, err := e.campaign(fmt.Sprintf("%v: %v", protocol, fault), s, e.Faulty)
			if err != nil {
				return nil, err
			}
			m := viewsim.Summarise(outcomes)
			name := map[viewsim.Protocol]string{viewsim.Paper: "its figure 3", viewsim.PaperLists: "its text, with lists of failures", viewsim.Banyan: "Banyan's protocol"}[protocol]
			happens := map[viewsim.FaultKind]string{viewsim.Takeover: "the root dies while a change spreads", viewsim.Several: "three nodes die within a millisecond"}[fault.Kind]
			why := "With a perfect detector, whose word reaches each process at a time of its own."
			if protocol != viewsim.Banyan {
				why += " Everyone installs what it is told when it is told, and counts its views for itself."
			}
			claims = append(claims, report.Claim{
				Where: "sections 1, 3.5 and 3.6", What: fmt.Sprintf("the view stays consistent when %s: by %s", happens, name),
				Paper:       "consistent",
				Ours:        fmt.Sprintf("of %d runs %d end with one view of all; in %d a number stands for two views; in %d a root waits for ever", m.Runs, m.Agreed, m.Collided, m.Waits),
				Verdict:     verdict(m.Agreed == m.Runs && m.Collided == 0),
				Explanation: why,
			})
		}
	}
	return claims, nil
}
