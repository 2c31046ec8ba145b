package launcher

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	lib "banyan/mpi"
)

// rounds has all ranks add numbers, and each tell the sum, round by round. Between rounds there is
// a safe point. Then it waits for the file end, if that is named.
func rounds(n int, pause time.Duration, end string) {
	lib.Main(func(world *lib.Comm) error {
		state := struct{ Round, Sum int }{}
		if err := lib.Register(world, "state", &state); err != nil {
			return err
		}
		for {
			if _, err := world.Safepoint(); err != nil {
				return err
			}
			if state.Round == n {
				for end != "" {
					if _, err := os.Stat(end); err == nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				return nil
			}
			sum := []int{0}
			if err := lib.Allreduce(world, []int{state.Round + world.Rank()}, sum, lib.Sum); err != nil {
				return err
			}
			state.Sum += sum[0]
			fmt.Printf("rank %d round %d sum %d\n", world.Rank(), state.Round, state.Sum)
			state.Round++
			time.Sleep(pause)
		}
	})
}

// roundsOutput is what rank writes.
func roundsOutput(ranks, rank, n int) string {
	var b strings.Builder
	sum := 0
	for round := range n {
		sum += ranks*round + ranks*(ranks-1)/2
		fmt.Fprintf(&b, "rank %d round %d sum %d\n", rank, round, sum)
	}
	return b.String()
}

// A launcher is lost in the middle of a job, and another one goes on from its state: the output is
// that of a job that wasn't disturbed.
func TestResume(t *testing.T) {
	t.Parallel()
	const n = 150
	job := Config{Ranks: 2, Replicas: 2, Places: layers(2, 2), Heal: true}
	args := []string{"rounds", fmt.Sprint(n), "5ms"}
	t.Run("nothing else", func(t *testing.T) {
		t.Parallel()
		r := newRelayed(t, 2)
		r.run(job, args...)
		for at := int64(500); at < 2500; at += 1000 {
			r.await(1, at)
			r.loseLauncher()
			r.resume()
		}
		report := r.end()
		r.check(report, 2, n)
		if len(report.Deaths) > 0 {
			t.Errorf("deaths: %+v", report.Deaths)
		}
	})
	t.Run("what was shown is known to agents alone", func(t *testing.T) {
		t.Parallel()
		r := newRelayed(t, 2)
		r.forgets = true
		r.run(job, args...)
		for at := int64(500); at < 2500; at += 1000 {
			r.await(1, at)
			r.loseLauncher()
			r.resume()
		}
		r.check(r.end(), 2, n)
	})
	t.Run("process killed before", func(t *testing.T) {
		t.Parallel()
		r := newRelayed(t, 2)
		r.run(job, "rounds", "500", "5ms")
		r.await(0, 1000)
		syscall.Kill(r.pid(0), syscall.SIGKILL)
		report := r.end()
		r.check(report, 2, 500)
		r.checkHealed(report)
	})
	t.Run("process killed meanwhile", func(t *testing.T) {
		t.Parallel()
		r := newRelayed(t, 2)
		r.run(job, "rounds", "500", "5ms")
		r.await(0, 1000)
		r.loseLauncher()
		syscall.Kill(r.pid(0), syscall.SIGKILL)
		time.Sleep(50 * time.Millisecond)
		r.resume()
		report := r.end()
		r.check(report, 2, 500)
		if len(report.Deaths) == 0 || report.Deaths[0].Process != 0 || report.Deaths[0].Cause != CauseSignal {
			t.Errorf("deaths: %+v", report.Deaths)
		}
		r.checkHealed(report)
	})
	t.Run("host lost meanwhile", func(t *testing.T) {
		t.Parallel()
		r := newRelayed(t, 3)
		r.run(job, args...)
		r.await(0, 1000)
		r.loseLauncher()
		r.kill[0]()
		r.dead[0] = true
		r.resume()
		report := r.end()
		r.check(report, 2, n)
		if len(report.Deaths) < 2 || report.Deaths[0].Cause != CauseHostLost || report.Hosts[0].Lost == nil {
			t.Errorf("deaths: %+v", report.Deaths)
		}
	})
	t.Run("at the beginning", func(t *testing.T) {
		t.Parallel()
		r := newRelayed(t, 2)
		r.run(job, args...)
		for r.firstKept() == 0 {
			time.Sleep(time.Millisecond)
		}
		r.loseLauncher()
		r.resume()
		r.check(r.end(), 2, n)
	})
	t.Run("all processes have ended", func(t *testing.T) {
		t.Parallel()
		r := newRelayed(t, 2)
		r.run(Config{Ranks: 2, Replicas: 2, Places: layers(2, 2)}, "rounds", "20", "1ms")
		r.await(0, 100)
		r.letEnd()
		r.loseLauncher()
		time.Sleep(500 * time.Millisecond)
		r.resume()
		r.check(r.end(), 2, 20)
	})
}
