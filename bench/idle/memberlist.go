package idle

import (
	"io"
	"log"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"
)

// gossip is a group of memberlist, as its configuration for local networks makes it.
type gossip struct {
	lists []*memberlist.Memberlist
	sizes *sizes
}

func newMemberlist() *gossip { return &gossip{sizes: newSizes()} }

func (g *gossip) found(n int, limit time.Duration) error {
	g.sizes.room(n)
	for i := range n {
		c := memberlist.DefaultLANConfig()
		c.Name, c.BindAddr, c.BindPort, c.AdvertiseAddr, c.AdvertisePort = strconv.Itoa(i), "127.0.0.1", 0, "127.0.0.1", 0
		c.Logger = log.New(io.Discard, "", 0)
		c.Events = listener{g.sizes, i}
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
	_, err := g.sizes.await(n, limit)
	return err
}

func (g *gossip) kill(i int, limit time.Duration) (time.Time, error) {
	left := g.sizes.end(i)
	if err := g.lists[i].Shutdown(); err != nil {
		return time.Time{}, err
	}
	return g.sizes.await(left, limit)
}

// listener hears what a member learns, also of itself.
type listener struct {
	sizes  *sizes
	member int
}

func (l listener) NotifyJoin(*memberlist.Node)   { l.sizes.add(l.member, 1) }
func (l listener) NotifyUpdate(*memberlist.Node) {}
func (l listener) NotifyLeave(*memberlist.Node)  { l.sizes.add(l.member, -1) }
