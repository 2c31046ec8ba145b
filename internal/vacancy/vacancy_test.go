package vacancy

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"banyan/internal/proto"
	"banyan/internal/proto/replica"
)

func always(proto.Proc) bool { return true }

const second = proto.Time(time.Second)

// begin begins an attempt that must be about a place, with a donor.
func begin(t *testing.T, b *Board, now proto.Time, slot, donor proto.Proc, life uint32) *Attempt {
	t.Helper()
	a := b.Next(now, always, always)
	if a == nil || a.Slot != slot || a.Donor != donor || a.Life != life {
		t.Fatalf("the next attempt is %+v, want place %d in life %d from %d", a, slot, life, donor)
	}
	return a
}

func TestPlacesWaitForDonors(t *testing.T) {
	b := New(replica.Uniform(2, 3), 0) // rank 0: 0 2 4, rank 1: 1 3 5
	b.Vacated(0, 1)
	b.Vacated(0, 0)
	if a := b.Next(0, always, always); a != nil || b.Needy(always) != proto.NoProc {
		t.Fatalf("%+v without a donor", a)
	}
	b.Healable(4)
	b.Healable(2)
	if a := b.Next(0, func(proto.Proc) bool { return false }, always); a != nil || b.Needy(always) != 0 {
		t.Fatalf("%+v without a newcomer", a)
	}
	begin(t, b, 0, 0, 2, 1)
	b.Healable(3)
	if a := b.Next(0, always, always); a != nil {
		t.Fatalf("%+v at the same time", a)
	}
	if note := b.Healed(2*second, 77); note != "rank 0: replica 0 is back after 2s (pid 77), with the state of replica 1" {
		t.Errorf("%q", note)
	}
	begin(t, b, 2*second, 1, 3, 1)
}

func TestDonorsAreThere(t *testing.T) {
	b := New(replica.Uniform(1, 3), 0)
	b.Healable(1)
	b.Healable(2)
	b.Vacated(0, 0)
	if a := b.Next(0, always, func(p proto.Proc) bool { return p != 1 }); a.Donor != 2 {
		t.Errorf("the donor is %d", a.Donor)
	}
	b.Died() // committed, then dead
	b.Vacated(0, 1)
	b.Vacated(0, 0)
	if a := b.Next(0, always, always); a.Slot != 1 || a.Donor != 2 {
		t.Errorf("%+v", a)
	}
}

func TestFilledByAnother(t *testing.T) {
	b := New(replica.Uniform(1, 2), 0)
	b.Healable(1)
	b.Vacated(0, 0)
	b.Filled(0, 4)
	if a := b.Next(0, always, always); a != nil || b.Lives(0) != 4 {
		t.Fatalf("%+v, of a place that has a process", a)
	}
	b.Filled(0, 3)
	b.Vacated(0, 0)
	begin(t, b, 0, 0, 1, 5)
}

func TestThreeFailures(t *testing.T) {
	b := New(replica.Uniform(1, 2), 0)
	b.Healable(1)
	b.Vacated(0, 0)
	for life := range uint32(MaxFailures) {
		b.Next(0, always, always).Blame("it has no wish to")
		note := b.Failed(false)
		if last := life == MaxFailures-1; last != strings.HasSuffix(note, "it has no wish to; after 3 attempts it stays dead") {
			t.Errorf("attempt %d: %q", life, note)
		}
		if b.Lives(0) != life+1 {
			t.Errorf("attempt %d had life %d", life, b.Lives(0))
		}
	}
	if a := b.Next(0, always, always); a != nil {
		t.Errorf("%+v", a)
	}
}

// The death of a donor is no fault of the newcomer's.
func TestExcused(t *testing.T) {
	b := New(replica.Uniform(1, 3), 0)
	b.Healable(1)
	b.Healable(2)
	b.Vacated(0, 0)
	for life := range uint32(2 * MaxFailures) {
		begin(t, b, 0, 0, 1, life+1)
		b.Failed(true)
	}
}

func TestRelapse(t *testing.T) {
	b := New(replica.Uniform(1, 2), 0)
	b.Healable(1)
	now, note := proto.Time(0), b.Vacated(0, 0)
	heal := func(lived proto.Time) {
		t.Helper()
		if b.Next(now, always, always) == nil {
			t.Fatal("no attempt")
		}
		b.Healed(now, 1)
		now += lived
		note = b.Vacated(now, 0)
	}
	heal(second / 2)
	heal(second / 2)
	heal(second) // forgiven
	heal(second / 2)
	heal(second / 2)
	if note != "" {
		t.Errorf("%q", note)
	}
	heal(second / 2)
	if !strings.Contains(note, "isn't replaced any more: the last 3 newcomers were of no use") || b.Next(now, always, always) != nil {
		t.Errorf("%q", note)
	}
}

func TestHopeless(t *testing.T) {
	b := New(replica.Uniform(1, 3), 0)
	b.Healable(1)
	b.Vacated(0, 0)
	a := begin(t, b, 0, 0, 1, 1)
	a.Blame("it differs")
	a.Hopeless = true
	if note := b.Failed(false); !strings.HasSuffix(note, "it differs; replica 1 isn't asked again") {
		t.Errorf("%q", note)
	}
	b.Healable(1)
	if b.Next(0, always, always) != nil {
		t.Error("it is asked again")
	}
	if notes := b.Over(); notes != nil {
		t.Errorf("said twice: %q", notes)
	}
	b = New(replica.Uniform(1, 3), 0)
	b.Healable(1)
	b.Vacated(0, 0)
	begin(t, b, 0, 0, 1, 1).Hopeless = true
	b.Failed(false)
	b.Healable(2)
	begin(t, b, 0, 0, 2, 2)
	// Another process in the donor's place isn't barred.
	b.Healed(0, 1)
	b.Vacated(0, 1)
	begin(t, b, 0, 1, 2, 1)
	b.Healed(0, 1)
	b.Healable(1)
	b.Vacated(0, 2)
	begin(t, b, 0, 2, 1, 1)
}

func TestDeadlines(t *testing.T) {
	b := New(replica.Uniform(1, 3), 10*time.Second)
	if b.Deadline() != proto.Never {
		t.Error("a deadline for nothing")
	}
	b.Healable(2)
	b.Vacated(0, 0)
	begin(t, b, 5*second, 0, 2, 1)
	if b.Deadline() != 15*second || b.Late(15*second-1) != "" {
		t.Errorf("the deadline is %d", b.Deadline())
	}
	if why := b.Late(15 * second); why != "it didn't get ready within 10s" {
		t.Errorf("%q", why)
	}
	b.Enter(20*second, FindSafepoint)
	if why := b.Late(30 * second); why != "" || b.Deadline() != 40*second {
		t.Errorf("%q, though nobody else waits; then %d", why, b.Deadline())
	}
	b.Vacated(35*second, 1)
	if why := b.Late(40 * second); !strings.Contains(why, "at a safe point within 10s") {
		t.Errorf("%q", why)
	}
}

func TestOver(t *testing.T) {
	b := New(replica.Uniform(3, 2), 0)
	b.Healable(4)
	b.Healable(5)
	b.Vacated(0, 0)
	b.Vacated(0, 1)
	b.Vacated(0, 2)
	a := begin(t, b, 0, 1, 4, 1)
	notes := strings.Join(b.Over(), "\n")
	if notes != "rank 0: replica 0 wasn't replaced: no other has come to a safe point that could be used\n"+
		"rank 2: replica 0 wasn't replaced: the job has come to its end" {
		t.Errorf("%s", notes)
	}
	a.Blame(End)
	if note := b.Failed(false); note != "rank 1: replica 0 couldn't be replaced: the job has come to its end" {
		t.Errorf("%q", note)
	}
	if b.Next(0, always, always) != nil || b.Over() != nil || !b.IsOver() || b.Vacated(0, 4) != "" {
		t.Error("it goes on")
	}
}

// Whatever happens: one attempt at a time, a place is filled at most once at a time, no life is
// given twice, and no donor is dead or of another rank.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := replica.Partial(rapid.SliceOfN(rapid.IntRange(1, 3), 1, 3).Draw(t, "degrees"))
		b := New(layout, time.Second)
		alive := make([]bool, layout.Procs())
		healable := make([]bool, layout.Procs())
		lives := make([]uint32, layout.Procs())
		for p := range alive {
			alive[p] = true
		}
		now := proto.Time(0)
		var attempt *Attempt
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += proto.Time(rapid.IntRange(0, 1500).Draw(t, "ms")) * proto.Time(time.Millisecond)
			p := proto.Proc(rapid.IntRange(0, layout.Procs()-1).Draw(t, "proc"))
			switch rapid.SampledFrom([]string{"death", "healable", "next", "healed", "failed"}).Draw(t, "event") {
			case "death":
				if alive[p] {
					alive[p], healable[p] = false, false
					b.Vacated(now, p)
				}
			case "healable":
				if alive[p] {
					healable[p] = true
					b.Healable(p)
				}
			case "next":
				next := b.Next(now, always, func(p proto.Proc) bool { return alive[p] })
				if next == nil {
					break
				}
				if attempt != nil || alive[next.Slot] || !alive[next.Donor] || !healable[next.Donor] ||
					layout.Rank(next.Slot) != layout.Rank(next.Donor) || next.Life <= lives[next.Slot] {
					t.Fatalf("%+v, while %+v", next, attempt)
				}
				attempt, lives[next.Slot] = next, next.Life
			case "healed":
				if attempt != nil {
					alive[attempt.Slot] = true
					b.Healed(now, 1)
					attempt = nil
				}
			case "failed":
				if attempt != nil {
					b.Failed(!alive[attempt.Donor])
					attempt = nil
				}
			}
			if b.Now() != attempt {
				t.Fatalf("the present attempt is %+v, not %+v", b.Now(), attempt)
			}
		}
	})
}
