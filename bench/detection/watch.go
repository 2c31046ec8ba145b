package detection

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/processes"
)

// settle is how long the members are left alone before anything is measured: the more there are,
// the longer they send messages about their start.
func (s *Setting) settle() time.Duration {
	return max(100*time.Millisecond, 5*s.Period, time.Duration(s.N)*10*time.Millisecond)
}

// afterwards is how long they are watched after all have learnt of the fault.
func (s *Setting) afterwards() time.Duration { return min(2*s.Timeout, time.Second) }

// sample is the messages and processor time that a member has used up to a time.
type sample struct {
	at   int64 // monotonic
	sent int64
	cpu  time.Duration
	ok   bool
}

// watch counts messages, processor time and false suspicions while nothing
// happens.
func (r *run) watch(row *Row) error {
	r.sleep(r.settle())
	before, err := r.sample()
	if err != nil {
		return err
	}
	began := processes.Monotonic()
	r.sleep(r.Quiet)
	after, err := r.sample()
	if err != nil {
		return err
	}
	row.QuietSuspicions = r.suspected(began)
	members := 0
	gone := r.accused()
	for i := range r.N {
		switch a, ok := gone[i]; {
		case !before[i].ok:
			continue
		case !after[i].ok && ok: // the suspicion ended it
			row.MemberHours += max(0, float64(a.at-before[i].at)) / float64(time.Hour)
			continue
		case !after[i].ok:
			continue
		}
		took := float64(after[i].at - before[i].at)
		members++
		row.MemberHours += took / float64(time.Hour)
		row.Messages += float64(after[i].sent-before[i].sent) / took * float64(r.Period)
		row.CPU += 100 * float64(after[i].cpu-before[i].cpu) / took
	}
	row.Messages /= float64(max(members, 1))
	row.CPU /= float64(max(members, 1))
	return r.ctx.Err()
}

// sleep waits, unless the run ends.
func (r *run) sleep(d time.Duration) {
	r.wait(d, func() bool { return false })
}

// sample asks every live member for a sample.
func (r *run) sample() ([]sample, error) {
	samples := make([]sample, r.N)
	want := make([]int64, r.N)
	for i := range samples {
		if samples[i].ok = !ends(r.pidfds[i], 0); !samples[i].ok {
			continue
		}
		want[i] = r.scoreboard.word(i, wordSamples).Load() + 1
		if err := unix.PidfdSendSignal(r.pidfds[i], unix.SIGUSR1, nil, 0); err == unix.ESRCH {
			samples[i].ok = false
		} else if err != nil {
			return nil, os.NewSyscallError("pidfd_send_signal", err)
		}
		cpu, err := processorTime(int(r.scoreboard.word(i, wordPid).Load()))
		if err != nil {
			samples[i].ok = false // it has just died
		}
		samples[i].cpu = cpu
	}
	late := -1
	if !r.wait(sampleLimit, func() bool {
		for i := range samples {
			if samples[i].ok && r.scoreboard.word(i, wordSamples).Load() < want[i] {
				if ends(r.pidfds[i], 0) {
					samples[i].ok = false
					continue
				}
				late = i
				return false
			}
		}
		return true
	}) {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		return nil, r.group.Err(fmt.Sprintf("member %d gave no sample within %v", late, sampleLimit))
	}
	for i := range samples {
		samples[i].at = r.scoreboard.word(i, wordSampleAt).Load()
		samples[i].sent = r.scoreboard.word(i, wordSampled).Load()
	}
	return samples, nil
}

// clockTick is the unit of /proc's times: on Linux it is 1/100 s everywhere, whatever the
// kernel's own is.
const clockTick = 10 * time.Millisecond

// processorTime is the time that a process has used, in the program and in the kernel.
func processorTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// The second field is a name in parentheses, which may contain anything.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	var ticks int64
	for _, f := range []int{11, 12} { // utime and stime: 14 and 15 of all
		if len(fields) <= f {
			return 0, fmt.Errorf("/proc/%d/stat: %q", pid, b)
		}
		n, err := strconv.ParseInt(string(fields[f]), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// strike hits the victims and waits until all others know of all of them.
func (r *run) strike(row *Row) error {
	var candidates, observers []int
	for i := range r.N {
		if ends(r.pidfds[i], 0) {
			continue
		}
		doubted := r.doubted(i)
		if !doubted {
			candidates = append(candidates, i)
		}
		// The peer's member can prove it wrong; Banyan's is about to end.
		if !doubted || !r.System.isBanyan() {
			observers = append(observers, i)
		}
	}
	victims := r.choose(r.rng, candidates)
	if row.Spoilt = victims == nil || len(observers) < len(victims)+2; row.Spoilt {
		return nil
	}
	r.victims = victims
	for i, v := range victims {
		if i > 0 && r.Apart > 0 {
			r.sleep(r.Apart)
		}
		if err := r.hit(v); err != nil {
			return err
		}
	}
	r.wait(r.limit(), func() bool {
		for _, i := range observers {
			for _, v := range victims {
				if r.struck(v) == 0 {
					return false
				}
				if r.struckAt[i] == 0 && r.scoreboard.since(i, v).Load() == 0 && !ends(r.pidfds[i], 0) {
					return false
				}
			}
		}
		return true
	})
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if r.struck(victims[0]) == 0 {
		return r.group.Err("the switch didn't cut the link")
	}
	r.sleep(r.afterwards())
	r.knowledge(observers).enter(row)
	return r.ctx.Err()
}

// hit makes the fault happen to a member.
func (r *run) hit(v int) error {
	if r.Fault == Partition {
		_, err := fmt.Fprintln(r.toHub, v)
		return err
	}
	signal := unix.SIGKILL
	if r.Fault == Stop {
		signal = unix.SIGSTOP
	}
	r.struckAt[v] = processes.Monotonic()
	if err := unix.PidfdSendSignal(r.pidfds[v], signal, nil, 0); err != nil {
		return os.NewSyscallError("pidfd_send_signal", err)
	}
	return nil
}

// struck is when a member was struck, 0 if it wasn't. The switch says itself when it has cut a
// link.
func (r *run) struck(v int) int64 {
	if r.Fault == Partition && slices.Contains(r.victims, v) {
		r.struckAt[v] = r.scoreboard.struck().Load()
	}
	return r.struckAt[v]
}

// knowledge returns how the observers that live learnt of the victims.
func (r *run) knowledge(observers []int) knowledge {
	k := knowledge{began: r.struck(r.victims[0])}
	for _, v := range r.victims {
		news := heard{struck: r.struck(v)}
		for _, i := range observers {
			switch at := r.scoreboard.since(i, v).Load(); {
			case slices.Contains(r.victims, i) || ends(r.pidfds[i], 0):
			case at == 0:
				news.missing++
			default:
				news.at = append(news.at, at)
			}
		}
		k.of = append(k.of, news)
	}
	return k
}

// accused returns the members that were taken for dead while they lived, by any member that
// hadn't been struck itself, each with its first accusation.
func (r *run) accused() map[int]Accusation {
	all := make(map[int]Accusation)
	for by := range r.N {
		for of := range r.N {
			at := r.scoreboard.first(by, of).Load()
			switch {
			case at == 0:
			case r.struck(of) != 0 && at >= r.struck(of): // it was
			case r.struck(by) != 0 && at >= r.struck(by): // it was cut off, or on its way down
			default:
				if a, ok := all[of]; !ok || at < a.at {
					all[of] = Accusation{Of: of, By: by, at: at}
				}
			}
		}
	}
	return all
}

// suspected returns how many members were taken for dead from some time on. News of a death that
// another member found before then doesn't count.
func (r *run) suspected(from int64) int {
	count := 0
	for of := range r.N {
		newly, known := false, false
		for by := range r.N {
			newly = newly || r.scoreboard.latest(by, of).Load() >= from
			first := r.scoreboard.first(by, of).Load()
			known = known || first != 0 && first < from
		}
		if newly && !(known && r.System.isBanyan()) {
			count++
		}
	}
	return count
}

// doubted says whether any member now takes this one for dead.
func (r *run) doubted(of int) bool {
	for by := range r.N {
		if r.scoreboard.since(by, of).Load() != 0 {
			return true
		}
	}
	return false
}

// accusations are the first ones of each accused, in the order of time.
func (r *run) accusations() []Accusation {
	all := slices.SortedFunc(maps.Values(r.accused()), func(a, b Accusation) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Of, b.Of))
	})
	for i := range all {
		a := &all[i]
		a.Up = time.Duration(a.at - r.upAt)
		if r.System.isBanyan() {
			a.Cause = causeOf(r.scoreboard.how(a.By, a.Of).Load())
		}
	}
	return all
}

// unaccountedEnds returns an error if a member has ended that no other took for dead: the run
// then measured something else than the detectors.
func (r *run) unaccountedEnds() error {
	accused := r.accused()
	for i, fd := range r.pidfds {
		if _, ok := accused[i]; r.struck(i) == 0 && !ok && ends(fd, 0) {
			return r.group.Err(fmt.Sprintf("member %d has ended by itself", i))
		}
	}
	return nil
}
