package idle

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync"
	"time"

	"banyan/internal/groupnode"
	"banyan/internal/proto/membership"
)

// banyan is a group of members as package group starts them.
type banyan struct {
	secret  []byte
	members []*groupnode.Member

	mu   sync.Mutex
	news *sync.Cond
	size []int       // by member: of its view; 0 after its end
	at   []time.Time // when it came
}

func newBanyan() *banyan {
	g := &banyan{secret: make([]byte, groupnode.MinSecret)}
	rand.Read(g.secret)
	g.news = sync.NewCond(&g.mu)
	return g
}

// joining is how many members join at once.
const joining = 16

func (g *banyan) found(n int, limit time.Duration) error {
	g.members, g.size, g.at = make([]*groupnode.Member, n), make([]int, n), make([]time.Time, n)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := g.join(ctx, 0); err != nil {
		return err
	}
	failed := make(chan error, n)
	var all sync.WaitGroup
	turns := make(chan struct{}, joining)
	for i := 1; i < n; i++ {
		all.Go(func() {
			turns <- struct{}{}
			if err := g.join(ctx, i); err != nil {
				failed <- err
			}
			<-turns
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	_, err := g.await(n, limit)
	return err
}

func (g *banyan) join(ctx context.Context, i int) (err error) {
	cfg := groupnode.Config{Name: "member " + strconv.Itoa(i), Secret: g.secret, Observer: watcher{g, i}, Gather: groupnode.DefaultGather}
	if i > 0 {
		cfg.Seeds = []string{g.members[0].Card().Address}
	}
	g.members[i], err = groupnode.Join(ctx, cfg)
	return err
}

// await waits until all members that live have a view of so many, and returns when the last got it.
func (g *banyan) await(n int, limit time.Duration) (last time.Time, err error) {
	late := false
	timer := time.AfterFunc(limit, func() {
		g.mu.Lock()
		late = true
		g.mu.Unlock()
		g.news.Broadcast()
	})
	defer timer.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		have := 0
		last = time.Time{}
		for i, size := range g.size {
			if size == n {
				have++
				if g.at[i].After(last) {
					last = g.at[i]
				}
			}
		}
		switch {
		case have >= n:
			return last, nil
		case late:
			return last, fmt.Errorf("%d of %d members have a view of all after %v", have, n, limit)
		}
		g.news.Wait()
	}
}

func (g *banyan) kill(i int, limit time.Duration) (time.Time, error) {
	g.mu.Lock()
	live := -1
	for _, size := range g.size {
		if size > 0 {
			live++
		}
	}
	g.mu.Unlock()
	g.members[i].Close()
	return g.await(live, limit)
}

// watcher notes the views of a member.
type watcher struct {
	*banyan
	member int
}

func (w watcher) note(size int) {
	w.mu.Lock()
	w.size[w.member], w.at[w.member] = size, time.Now()
	w.mu.Unlock()
	w.news.Broadcast()
}

func (w watcher) Installed(v *membership.View, _ func(membership.Member) groupnode.Card, _ bool) {
	w.note(len(v.Members))
}
func (w watcher) Ended(error)                                 { w.note(0) }
func (w watcher) Founded(groupnode.Founding)                  {}
func (w watcher) Rival(string, groupnode.Founding)            {}
func (w watcher) Sent(membership.Member, *membership.Message) {}
