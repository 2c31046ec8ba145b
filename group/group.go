package group

import (
	"context"
	"log/slog"
	"time"

	"banyan/internal/groupnode"
	"banyan/internal/proto/membership"
)

// Config is what [Join] needs to know. Only Name and Secret have no default.
type Config struct {
	// Name is the member's, the same after a restart: up to 64 bytes.
	Name string
	// Listen is the host:port at which the others reach this member. The default
	// is a free port of 127.0.0.1.
	Listen string
	// Advertise is that address as the others know it, if it is another one.
	Advertise string
	// Seeds are addresses of members, any of which will do, whether or not all of them live. Without
	// any this process founds a group.
	Seeds []string
	// Secret is known to the group's members only: at least 16 bytes.
	Secret []byte
	// Arity is how many others a member passes a change on to: a power of two. The default is 2.
	Arity int
	// HeartbeatPeriod is the time between two signs of life, by default 100 ms, and
	// HeartbeatTimeout the silence that is taken for a death, by default ten periods, and 1 s at
	// least. These and Arity must be the same for all: who has others is refused.
	HeartbeatPeriod, HeartbeatTimeout time.Duration
	// Logger is told of views and of what goes wrong. The default is none.
	Logger *slog.Logger
}

// Errors of Join and Leave, and of [Member.Err]: to be compared with errors.Is.
var (
	// ErrConfig: the Config is wrong; the error names the field.
	ErrConfig = groupnode.ErrConfig
	// ErrLeft: the member has left, as it asked to.
	ErrLeft = groupnode.ErrLeft
	// ErrClosed: it was closed without leaving.
	ErrClosed = groupnode.ErrClosed
	// ErrExcluded: the others took it for dead, and go on without it. It may join again.
	ErrExcluded = groupnode.ErrExcluded
	// ErrMinority: it could reach too few of the others, for two time-outs. They may go on
	// without it, and it may join again.
	ErrMinority = groupnode.ErrMinority
	// ErrNameInUse: a member of this name lives.
	ErrNameInUse = groupnode.ErrNameInUse
	// ErrRefused: the group doesn't let this process in; the error says why.
	ErrRefused = groupnode.ErrRefused
	// ErrSecret: whoever answers at the seeds has another secret.
	ErrSecret = groupnode.ErrSecret
)

// Member is this process's stay in a group. Its methods may be called from any
// goroutine.
type Member struct {
	stay  *groupnode.Member
	views *courier
}

// Join makes this process a member. It tries until ctx ends, and returns when the first
// view with this member is in force, or with an error that says what is wrong. The
// caller must end a member by Close, also one that has left.
func Join(ctx context.Context, cfg Config) (*Member, error) {
	views := newCourier()
	stay, err := groupnode.Join(ctx, groupnode.Config{
		Name: cfg.Name, Listen: cfg.Listen, Advertise: cfg.Advertise, Seeds: cfg.Seeds, Secret: cfg.Secret,
		Arity: cfg.Arity, Period: cfg.HeartbeatPeriod, Timeout: cfg.HeartbeatTimeout,
		Gather: gather(cfg.HeartbeatPeriod), Logger: cfg.Logger, Observer: sink{views},
	})
	if err != nil {
		views.discard()
		return nil, err
	}
	return &Member{stay, views}, nil
}

// gather is how long a coordinator waits for more that is to change: deaths seldom
// come alone.
func gather(period time.Duration) time.Duration {
	if period <= 0 {
		period = groupnode.DefaultPeriod
	}
	return period / 20
}

// sink passes views on to a courier.
type sink struct{ views *courier }

func (s sink) Installed(v *membership.View, card func(membership.Member) groupnode.Card, _ bool) {
	s.views.give(viewOf(v, card))
}
func (s sink) Sent(membership.Member, *membership.Message) {}
func (s sink) Ended(error)                                 { s.views.close() }

// Self is this member as the views have it.
func (m *Member) Self() Identity {
	card := m.stay.Card()
	return Identity{Name: card.Name, Incarnation: uint32(m.stay.Number().Incarnation), Address: card.Address}
}

// Views gives every view, in order and without a hole, from the first one with this
// member on. A program may take its time to read them: nobody waits for it. The channel is
// closed after the last view before the member's end; Err then says why that came.
func (m *Member) Views() <-chan View { return m.views.out }

// Err says why the member has ended, nil if it hasn't.
func (m *Member) Err() error { return m.stay.Err() }

// Leave says goodbye: it asks to leave, and returns when the others have a view
// without this member, in whose Left it is. If ctx ends first the member goes on leaving.
func (m *Member) Leave(ctx context.Context) error { return m.stay.Leave(ctx) }

// Close ends the member, if nothing else has, and lets go of all it has. To the others
// it has died, unless it had left. Views that haven't been read are dropped. It may be
// called more than once.
func (m *Member) Close() {
	m.stay.Close()
	m.views.discard()
}
