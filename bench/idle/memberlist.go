package idle

import (
	"fmt"
	"io"
	"log"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// gossip is a group of memberlist, as its configuration for local networks makes it.
type gossip struct {
	lists []*memberlist.Memberlist

	mu   sync.Mutex
	news *sync.Cond
	gone map[string]int       // how many know of a death
	at   map[string]time.Time // when the last of them learned of it
}

func newMemberlist() *gossip {
	g := &gossip{gone: map[string]int{}, at: map[string]time.Time{}}
	g.news = sync.NewCond(&g.mu)
	return g
}

func (g *gossip) found(n int, limit time.Duration) error {
	end := time.Now().Add(limit)
	for i := range n {
		c := memberlist.DefaultLANConfig()
		c.Name, c.BindAddr, c.BindPort, c.AdvertiseAddr, c.AdvertisePort = strconv.Itoa(i), "127.0.0.1", 0, "127.0.0.1", 0
		c.Logger = log.New(io.Discard, "", 0)
		c.Events = listener{g}
		list, err := memberlist.Create(c)
		if err != nil {
			return err
		}
		g.lists = append(g.lists, list)
		if i > 0 {
			if _, err := list.Join([]string{g.lists[0].LocalNode().Address()}); err != nil {
				return err
			}
		}
	}
	for _, list := range g.lists {
		for list.NumMembers() < n {
			if time.Now().After(end) {
				return fmt.Errorf("a member knows %d of %d after %v", list.NumMembers(), n, limit)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

func (g *gossip) kill(i int, limit time.Duration) (time.Time, error) {
	victim := g.lists[i]
	name := victim.LocalNode().Name
	if err := victim.Shutdown(); err != nil {
		return time.Time{}, err
	}
	g.lists = append(g.lists[:i:i], g.lists[i+1:]...)
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
	for g.gone[name] < len(g.lists) {
		if late {
			return time.Time{}, fmt.Errorf("%d of %d members know of a death after %v", g.gone[name], len(g.lists), limit)
		}
		g.news.Wait()
	}
	return g.at[name], nil
}

// listener hears what a member learns.
type listener struct{ *gossip }

func (l listener) NotifyJoin(*memberlist.Node)   {}
func (l listener) NotifyUpdate(*memberlist.Node) {}
func (l listener) NotifyLeave(n *memberlist.Node) {
	l.mu.Lock()
	l.gone[n.Name]++
	l.at[n.Name] = time.Now()
	l.mu.Unlock()
	l.news.Broadcast()
}
