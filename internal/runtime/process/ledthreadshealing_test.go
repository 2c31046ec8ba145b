package process

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/passive"
)

// talkingThreads makes a job of talks of three threads.
func talkingThreads(t testing.TB, seed uint64, l layout.Layout, mistake string) *healingJob {
	ends, programs := map[int]uint64{}, uint64(0)
	w := &healingJob{t: t, layout: l, mirror: seed%5 == 4, leader: true, make: func(r proto.Rank) healed {
		programs++
		k := newTalk(int(r), l.Ranks(), 3, 8, 1+int(seed%3), ends, seed<<8+programs)
		k.mistake = mistake
		return k
	}}
	return startHealingJob(w, seed)
}

// Replicas of programs of several threads are replaced, which run in another order in each of them.
func TestLedThreadsHealing(t *testing.T) {
	done, failed := 0, 0
	seeds(t, func(t *testing.T, seed uint64) {
		l := []layout.Layout{layout.Uniform(2, 2), layout.Uniform(2, 3), layout.Uniform(3, 2), layout.Partial([]int{2, 3})}[seed%4]
		w := talkingThreads(t, seed, l, "")
		w.run(3+int(seed%6), 2000)
		done, failed = done+w.healed, failed+w.failed
	})
	t.Logf("%d healed, %d replacements failed", done, failed)
	if *seedFlag == 0 && (done < *runsFlag || failed < *runsFlag/2) {
		t.Error("that is too few")
	}
}

// TestLedThreadsHealingCanaries has known mistakes caught: without turns in the log no replacement
// comes to its first safe point; without turns in the state jobs go wrong.
func TestLedThreadsHealingCanaries(t *testing.T) {
	for _, mistake := range []string{"no turns in the log", "no turns in the state"} {
		healed, wrong := 0, ""
		for seed := uint64(0); seed < 40 && wrong == ""; seed++ {
			wrong = strictly(t, func(t testing.TB) string {
				w := talkingThreads(t, seed, layout.Uniform(2, 3), mistake)
				w.run(8, 2000)
				healed += w.healed
				return ""
			})
		}
		t.Logf("%s: %d healed, %s", mistake, healed, wrong[:min(len(wrong), 200)])
		if wrong == "" && healed > 0 {
			t.Errorf("%s: not caught in 40 jobs", mistake)
		}
	}
}

// withoutTurns is a record without the turns in it.
func withoutTurns(record []byte) []byte {
	k := &keepsNoTurns{}
	readDecisions(record, k)
	return k.take()
}

type keepsNoTurns struct{ decisions }

func (k *keepsNoTurns) hearThread(t ThreadID)              { k.on(t) }
func (k *keepsNoTurns) hearMatch(number uint64, m matched) { k.match(number, m) }
func (k *keepsNoTurns) hearTurns(uint64, uint64)           {}
func (k *keepsNoTurns) hearStep(context uint64, s passive.Step, n uint64) {
	k.step(context, s, n)
}
func (k *keepsNoTurns) hearEnd() { k.end() }
func (k *keepsNoTurns) hearAnswer(q Question, word, n uint64) {
	if word == 0 {
		k.noneOf(q, n)
	} else {
		k.answer(q, word)
	}
}
