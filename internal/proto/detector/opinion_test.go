package detector

import (
	"testing"

	"banyan/internal/proto"
	"banyan/internal/topology"
)

// ringOf are the machines of n processes that started at 0.
func ringOf(n int, opinions uint8) []*Machine {
	view := &View{Ring: topology.IdentityRing(n)}
	list := make([]*Machine, n)
	for p := range list {
		var out Actions
		list[p] = New(Config{Self: proto.Proc(p), View: view, Period: eta, Timeout: delta, Opinions: opinions}, 0, &out)
	}
	return list
}

// hear has a machine hear its emitter.
func hear(m *Machine, now proto.Time) {
	var out Actions
	m.Heartbeat(now, m.emitter, Beat{}, &out)
}

// probes are the indirect probes among actions, with their receivers.
func probes(out Actions) (list []Action) {
	for _, a := range out {
		if a.Kind == SendProbe {
			list = append(list, a)
		}
	}
	return list
}

// silence lets time pass in periods and returns what is sent.
func silence(m *Machine, from, to proto.Time) (out Actions) {
	for now := from; now <= to; now += eta / 2 {
		m.Tick(now, &out)
	}
	return out
}

func reports(out Actions, kind ActionKind) (list []Report) {
	for _, a := range out {
		if a.Kind == kind {
			list = append(list, a.Report)
		}
	}
	return list
}

// An opinion goes from the observer by a helper to the suspect, and back. Others are asked each
// time, and nobody before half of δ is over.
func TestOpinion(t *testing.T) {
	ms := ringOf(8, 3)
	observer, suspect := ms[1], ms[0]
	hear(observer, eta)
	if early := probes(silence(observer, eta, eta+delta/2-1)); len(early) > 0 {
		t.Fatalf("asked early: %+v", early)
	}
	ask := eta + proto.Time(delta/2)
	out := silence(observer, ask, ask)
	first := probes(out)
	if len(first) != 3 || first[0].To != 2 || first[1].To != 3 || first[2].To != 4 {
		t.Fatalf("asked: %+v", first)
	}
	if again := probes(silence(observer, ask+eta, ask+eta)); len(again) != 3 || again[0].To != 5 || again[2].To != 7 {
		t.Errorf("asked again: %+v", again)
	}
	var way Actions
	ms[2].Probe(ask+1, 1, Beat{}, first[0].Probe, &way)
	if len(way) != 1 || way[0].To != 0 || way[0].Probe.Stage != ProbePing {
		t.Fatalf("the helper asks: %+v", way)
	}
	suspect.Probe(ask+2, 2, Beat{}, way[0].Probe, &way)
	if len(way) != 2 || way[1].To != 2 || way[1].Probe.Stage != ProbeAnswer {
		t.Fatalf("the suspect answers: %+v", way)
	}
	ms[2].Probe(ask+3, 0, Beat{}, way[1].Probe, &way)
	if len(way) != 3 || way[2].To != 1 || way[2].Probe.Stage != ProbeVouch {
		t.Fatalf("the helper vouches: %+v", way)
	}
	other := way[2].Probe
	other.Incarnation++
	vouched := ask + eta + 4
	observer.Probe(vouched, 2, Beat{}, other, &way)
	if observer.suspectAt != eta+delta {
		t.Error("the word about another incarnation counts")
	}
	observer.Probe(vouched, 2, Beat{}, way[2].Probe, &way)
	if observer.suspectAt != vouched+delta {
		t.Errorf("it is suspected at %d", observer.suspectAt)
	}
	if dead := reports(silence(observer, vouched, vouched+delta+eta), ReportDeath); len(dead) != 1 || dead[0].Cause != CauseSilence {
		t.Errorf("nobody vouches again: %+v", dead)
	}
}

// Of two processes that hear of each other only by others for patience δ, the one with the higher
// number goes, whichever of them observes the other.
func TestOutOfReach(t *testing.T) {
	for _, observer := range []proto.Proc{1, 0} { // 0 observes 3
		m := ringOf(4, 2)[observer]
		hear(m, eta)
		now, out := proto.Time(eta), Actions{}
		for len(out) == 0 || len(reports(out, ReportDeath))+len(reports(out, ReportFenced)) == 0 {
			if now += eta; now > 2*patience*delta {
				t.Fatal("it is borne for ever")
			}
			out = out[:0]
			m.Tick(now, &out)
			if len(probes(out)) > 0 {
				m.Probe(now+1, 2, Beat{}, Probe{Stage: ProbeVouch, Observer: observer, Suspect: m.emitter}, &out)
			}
		}
		if now < patience*delta {
			t.Errorf("given up after %d", now)
		}
		dead, fenced := reports(out, ReportDeath), reports(out, ReportFenced)
		if observer == 0 && (len(dead) != 1 || dead[0].Proc != 3 || len(fenced) > 0) {
			t.Errorf("the lower: %+v, %+v", dead, fenced)
		}
		if observer == 1 && (len(fenced) != 1 || fenced[0].Cause != CauseSilence || fenced[0].By != 0 || len(dead) > 0) {
			t.Errorf("the higher: %+v, %+v", dead, fenced)
		}
	}
}

// A process that was held up, and so asks late, waits for the answers.
func TestLateAsker(t *testing.T) {
	m := ringOf(4, 2)[1]
	hear(m, eta)
	silence(m, eta, 3*eta)
	late := eta + proto.Time(delta) - eta/2 // η/2 before the suspicion; too early for wake to notice
	var out Actions
	m.Tick(late, &out)
	if len(probes(out)) != 2 || m.suspectAt != late+delta/4 {
		t.Errorf("%d probes, suspected at %d", len(probes(out)), m.suspectAt)
	}
	// The silence of an excused process isn't asked about.
	m = ringOf(4, 2)[1]
	m.Excuse(1, 0, true)
	if asked := probes(silence(m, eta, 3*delta)); len(asked) > 0 {
		t.Errorf("asked about an excused process: %+v", asked)
	}
}

// What a process testifies reaches the observer of the dead at once.
func TestTestify(t *testing.T) {
	ms := ringOf(6, 0)
	var out Actions
	ms[4].Evidence(1, 1, 0, &out)
	ms[4].Testify(1, 1, &out)
	last := out[len(out)-1]
	if last.Kind != SendReconcile || last.To != 2 || len(last.Bulletin.Gone) != 1 {
		t.Fatalf("testified: %+v", last)
	}
	out = out[:0]
	ms[2].Reconcile(2, 4, last.Bulletin, last.Ask, &out)
	news := 0
	for _, a := range out {
		if a.Kind == SendNews && a.Bulletin.Source == 2 {
			news++
		}
	}
	if news == 0 {
		t.Errorf("the observer doesn't broadcast: %+v", out)
	}
}
