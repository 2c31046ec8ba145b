package idle

import (
	"context"
	"crypto/rand"
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
	sizes   *sizes
}

func newBanyan() *banyan {
	g := &banyan{secret: make([]byte, groupnode.MinSecret), sizes: newSizes()}
	rand.Read(g.secret)
	return g
}

// joining is how many members join at once.
const joining = 16

func (g *banyan) found(n int, limit time.Duration) error {
	g.members = make([]*groupnode.Member, n)
	g.sizes.room(n)
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
	_, err := g.sizes.await(n, limit)
	return err
}

func (g *banyan) join(ctx context.Context, i int) (err error) {
	cfg := groupnode.Config{Name: "member " + strconv.Itoa(i), Secret: g.secret, Observer: watcher{g.sizes, i}, Gather: groupnode.DefaultGather}
	if i > 0 {
		cfg.Seeds = []string{g.members[0].Card().Address}
	}
	g.members[i], err = groupnode.Join(ctx, cfg)
	return err
}

func (g *banyan) kill(i int, limit time.Duration) (time.Time, error) {
	left := g.sizes.end(i)
	g.members[i].Close()
	return g.sizes.await(left, limit)
}

// watcher notes the views of a member.
type watcher struct {
	sizes  *sizes
	member int
}

func (w watcher) Installed(v *membership.View, _ func(membership.Member) groupnode.Card, _ bool) {
	w.sizes.set(w.member, len(v.Members))
}
func (w watcher) Ended(err error)                             { w.sizes.fail(w.member, err) }
func (w watcher) Founded(groupnode.Founding)                  {}
func (w watcher) Rival(string, groupnode.Founding)            {}
func (w watcher) Sent(membership.Member, *membership.Message) {}
