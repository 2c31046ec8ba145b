package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/proto"
)

// severalProgram is a program of three ranks with two replicas, "several DIR". The first replicas
// wait to die, the second ones are donors. A replacement goes on only when the replacements of all
// ranks have come, and have heard of each other. They leave files in DIR.
func severalProgram(dir string) int {
	if os.Getenv(env.Incarnations) != "" {
		return severalReplacement(dir)
	}
	m := join()
	if m.replica() == 1 {
		m.tell(control.Healable)
	}
	for {
		switch news, err := m.control.Receive(); {
		case err != nil:
			return 99
		case news.Type == control.Donate:
			m.control.Send(control.Message{Type: control.Mark, Proc: news.Proc, Incarnation: news.Incarnation})
		case news.Type == control.Marked:
			leaveFile(dir, fmt.Sprintf("marked %d.%d", news.Proc, news.Incarnation), "")
		case news.Type == control.Left && int(news.Proc) == m.rank():
			m.leave()
			return 0
		}
	}
}

func severalReplacement(dir string) int {
	m := connect()
	incarnations, gone, err := env.ReadIncarnations(2 * m.ranks)
	if err != nil {
		panic(err)
	}
	own := incarnations[m.proc]
	for p, incarnation := range incarnations[:m.ranks] {
		if incarnation > own || incarnation == own && gone[p] && p != int(m.proc) {
			panic(fmt.Sprintf("process %d is told %s", m.proc, os.Getenv(env.Incarnations)))
		}
	}
	leaveFile(dir, fmt.Sprintf("started %d.%d", m.proc, own), "")
	for p := range m.ranks {
		awaitFile(dir, fmt.Sprintf("started %d.%d", p, own))
	}
	m.tell(control.Ready)
	m.tell(control.Arrived)
	for known := 0; known < m.ranks-1; { // nothing that the others were told is missed
		known = 0
		for p := range m.ranks {
			if p != int(m.proc) && incarnations[p] == own && !gone[p] {
				known++
			}
		}
		if known < m.ranks-1 {
			news, err := m.control.Receive()
			if err != nil {
				return 99
			}
			if news.Type == control.Admit {
				incarnations[news.Proc], gone[news.Proc] = news.Incarnation, false
			}
		}
	}
	awaitFile(dir, fmt.Sprintf("marked %d.%d", m.proc, own))
	m.tell(control.Committed)
	m.tell(control.Healed)
	awaitFile(dir, "whole") // the first that leaves ends the attempts of the others
	m.leave()
	return 0
}

// When a host is lost its replicas are replaced at the same time. If the host of the replacements
// is lost, too, all are begun again on another one.
func TestSeveralReplacements(t *testing.T) {
	const a, c = 0, 2
	for _, tc := range []struct {
		name  string
		lose  func(host *pretended)
		fails int // attempts that fail
	}{
		{"undisturbed", func(*pretended) {}, 0},
		{"lost when they have started", func(h *pretended) { h.heard = after(3, control.Ready, h) }, 3},
		{"lost when they have arrived", func(h *pretended) { h.heard = after(3, control.Arrived, h) }, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			hosts, agents := pretend(t, "a", "b", "c", "d")
			hosts[1].heard = after(3, control.Healable, hosts[a])
			tc.lose(hosts[c])
			dir := t.TempDir()
			for _, h := range hosts[c:] {
				healed := new(atomic.Int64)
				h.passed = func(_ agent.Spec, m control.Message) { // the launcher has it before what comes later
					if m.Type == control.Healed && healed.Add(1) == 3 {
						leaveFile(dir, "whole", "")
					}
				}
			}
			o := run(t, Config{Ranks: 3, Replicas: 2, Heal: true, Agents: agents, Places: layers(3, 2), Limit: 10 * time.Second,
				Rehome: func(_ proto.Proc, _ []int, living []bool) (int, bool) {
					if living[c] {
						return c, true
					}
					return c + 1, true
				}}, "several", dir)
			failed, last := 0, map[int]string{}
			for _, h := range o.report.Heals {
				if last[h.Rank] = h.Host; h.Error != "" {
					failed++
				}
			}
			if o.report.ExitCode != 0 || failed != tc.fails {
				t.Errorf("exit code %d, %d attempts failed, heals %+v; stderr %q", o.report.ExitCode, failed, o.report.Heals, o.stderr)
			}
			where := "c"
			if tc.fails != 0 {
				where = "d"
			}
			if last[0] != where || last[1] != where || last[2] != where {
				t.Errorf("the last replacements run on %v, want %s", last, where)
			}
			if n, _ := filepath.Glob(filepath.Join(dir, "started *")); len(n)%3 != 0 || strings.Contains(o.stderr, "panic") {
				t.Errorf("replacements %v; stderr %q", n, o.stderr)
			}
		})
	}
}

// after loses a host when so many messages of this type have come.
func after(n int64, when control.Type, lost *pretended) func(agent.Spec, control.Message) {
	var came atomic.Int64
	return func(_ agent.Spec, m control.Message) {
		if m.Type == when && came.Add(1) == n {
			lost.lose()
		}
	}
}
