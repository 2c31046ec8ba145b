package idle

import (
	"fmt"
	"sync"
	"time"
)

// sizes are how many members each member knows, itself among them. The members tell, each in a
// goroutine of its own.
type sizes struct {
	mu   sync.Mutex
	news *sync.Cond
	size []int       // by member; 0 before its start and after its end
	at   []time.Time // when it changed last
	over []bool      // it has been ended
	lost error       // a member that has ended by itself
}

func newSizes() *sizes {
	s := &sizes{}
	s.news = sync.NewCond(&s.mu)
	return s
}

// room makes room for so many members.
func (s *sizes) room(n int) {
	s.size, s.at, s.over = make([]int, n), make([]time.Time, n), make([]bool, n)
}

// set notes how many a member knows.
func (s *sizes) set(member, size int) { s.change(member, func(int) int { return size }) }

// add notes that a member knows more, or fewer.
func (s *sizes) add(member, more int) { s.change(member, func(size int) int { return size + more }) }

func (s *sizes) change(member int, to func(size int) int) {
	s.mu.Lock()
	if !s.over[member] {
		s.size[member], s.at[member] = to(s.size[member]), time.Now()
	}
	s.mu.Unlock()
	s.news.Broadcast()
}

// fail notes that a member has ended by itself. The group won't be complete again.
func (s *sizes) fail(member int, err error) {
	s.mu.Lock()
	if !s.over[member] && s.lost == nil {
		s.lost = fmt.Errorf("member %d has ended: %w", member, err)
	}
	s.mu.Unlock()
	s.news.Broadcast()
}

// end notes that a member is ended now, and returns how many are left.
func (s *sizes) end(member int) (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size[member], s.over[member] = 0, true
	for _, size := range s.size {
		if size > 0 {
			left++
		}
	}
	return left
}

// await waits until so many members know so many, and returns when the last got to know it.
func (s *sizes) await(n int, limit time.Duration) (last time.Time, err error) {
	late := false
	timer := time.AfterFunc(limit, func() {
		s.mu.Lock()
		late = true
		s.mu.Unlock()
		s.news.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		have, least := 0, n
		last = time.Time{}
		for i, size := range s.size {
			if size == n {
				have++
				if s.at[i].After(last) {
					last = s.at[i]
				}
			} else if size > 0 {
				least = min(least, size)
			}
		}
		switch {
		case have >= n:
			return last, nil
		case s.lost != nil:
			return last, s.lost
		case late:
			return last, fmt.Errorf("%d of %d members know all after %v; one knows %d", have, n, limit, least)
		}
		s.news.Wait()
	}
}
