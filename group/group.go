package group

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"banyan/internal/groupnode"
	"banyan/internal/proto/membership"
)

// Config is what [Join] needs to know. Only Name and Secret have no default.
type Config struct {
	// Group is the name of the group, the same for all members. Processes that ask for another
	// group are refused. It has up to 64 bytes, and may be empty.
	Group string
	// Name is the member's name, the same after a restart. It has up to 64 bytes.
	Name string
	// Listen is the host:port at which the others reach this member. The default
	// is a free port of 127.0.0.1.
	Listen string
	// Advertise is the address by which the others reach this member, if it isn't Listen.
	Advertise string
	// Seeds are addresses of members, as host:port. One live member among them is enough. All are
	// asked, at all addresses of their names, which are looked up again and again. Without seeds,
	// and without a Dir that knows the group, this process founds a group.
	Seeds []string
	// Expect is how many processes found the group together, if it never was: all that are started
	// at first, with the same Expect and Seeds, of different names. None has to be the first; each
	// may be among its own seeds. One of them founds, and the others join it. Later ones may have
	// the same Expect. Without it, a process without seeds founds a group alone.
	Expect int
	// Secret is known to the group's members only. It has at least 16 bytes, and has to be
	// random: an attacker that a member is led to dial can test guesses of it.
	Secret []byte
	// OtherSecrets are further secrets that this member accepts of those that connect to it. With
	// them Secret is changed in a group that goes on: docs/guide/group.md has the steps.
	OtherSecrets [][]byte
	// Encrypt seals what members say to each other: nobody on the way can read or change it. Names
	// and addresses stay visible when a connection begins. It must be the same for all members.
	// Without it, an attacker on the way between two members can read and change what they say.
	Encrypt bool
	// Metadata is what this member says of itself in views, from the first one on: UTF-8 text of
	// up to 256 bytes. [Member.SetMetadata] changes it.
	Metadata string
	// Arity is how many others a member passes a change on to: a power of two. The default is 2.
	Arity int
	// HeartbeatPeriod is the time between two heartbeats, by default 250 ms, but at most a quarter
	// of a HeartbeatTimeout that is given. HeartbeatTimeout is the silence that is taken for a
	// death, by default 1 s, but at least ten times a HeartbeatPeriod that is given. These and
	// Arity must be the same for all members: the group refuses a process with other values.
	HeartbeatPeriod, HeartbeatTimeout time.Duration
	// Dir is a directory in which this process keeps what it has to know after its end: who it
	// is, and who was in its last view. With it the group comes back by itself after all of its
	// processes have ended: see [Recover]. No other member may use it at the same time. The
	// default is to keep nothing.
	Dir string
	// Epochs numbers the group's foundings, so that View.Token never goes back. The default is the
	// founder's clock. All processes that may found the group should have the same Epochs.
	Epochs Epochs `json:"-"`
	// Logger gets views, and what goes wrong. The default is none.
	Logger *slog.Logger
}

// Errors of Join and Leave, and of [Member.Err]: to be compared with errors.Is.
var (
	// ErrConfig: the Config is wrong; the error names the field.
	ErrConfig = groupnode.ErrConfig
	// ErrLeft: the member has left because it asked to.
	ErrLeft = groupnode.ErrLeft
	// ErrClosed: the member was closed without leaving.
	ErrClosed = groupnode.ErrClosed
	// ErrExcluded: the others took the member for dead, and go on without it. Its process may
	// join again.
	ErrExcluded = groupnode.ErrExcluded
	// ErrMinority: the member could reach too few others, for two time-outs. They may go on
	// without it, and its process may join again.
	ErrMinority = groupnode.ErrMinority
	// ErrNameInUse: a member of this name lives.
	ErrNameInUse = groupnode.ErrNameInUse
	// ErrRefused: the group doesn't let this process in; the error says why.
	ErrRefused = groupnode.ErrRefused
	// ErrAddressInUse: another process listens at Config.Listen. The Config may be right, so that
	// it is worth trying again.
	ErrAddressInUse = groupnode.ErrAddressInUse
	// ErrExists: a member of the group lives, so [Recover] doesn't found it anew.
	ErrExists = groupnode.ErrExists
	// ErrSecret: the processes that answer at the seeds have another secret.
	ErrSecret = groupnode.ErrSecret
)

// Member is one member of a group, from Join to its end. Its methods may be called from any
// goroutine.
type Member struct {
	node   *groupnode.Member
	views  *viewQueue
	latest *atomic.Pointer[View]
	recent *recent
	tally  *tally
}

// Join makes this process a member. It tries until ctx ends. It returns when the first view with
// this member is in force, or with an error that says what is wrong. The caller must end a member
// by Close, even a member that has left.
//
// A process that was in the group before, by what it keeps in Config.Dir, also asks the members of
// its last view. If all of these are heard to have restarted the group is founded anew, by one of
// them.
func Join(ctx context.Context, cfg Config) (*Member, error) { return join(ctx, cfg, false) }

// Recover founds a group anew of which too few members are left to go on, on an operator's word
// that no member lives: those that are gone don't come back as members. It asks the seeds and the
// members of the last view first, and returns ErrExists if one of them is a member. The tokens of
// the new founding are higher than those of all views that this process, or one that answers, has
// been in. The other processes join this one as usual, if it is among their seeds or was in their
// last view.
//
// At most one process may call it. If the others can't be reached but live, there are two groups.
// It isn't needed if all members of the last view have a Config.Dir and are started again.
func Recover(ctx context.Context, cfg Config) (*Member, error) { return join(ctx, cfg, true) }

func join(ctx context.Context, cfg Config, again bool) (*Member, error) {
	views := newViewQueue()
	s := &sink{views: views, recent: newRecent(), group: cfg.Group, tally: tally{group: cfg.Group}}
	node, err := groupnode.Join(ctx, groupnode.Config{
		Group: cfg.Group, Dir: cfg.Dir, Expect: cfg.Expect, Recover: again, Epochs: cfg.Epochs, Name: cfg.Name, Metadata: cfg.Metadata, Listen: cfg.Listen, Advertise: cfg.Advertise, Seeds: cfg.Seeds, Secret: cfg.Secret, OtherSecrets: cfg.OtherSecrets,
		Encrypt: cfg.Encrypt, Arity: cfg.Arity, Period: cfg.HeartbeatPeriod, Timeout: cfg.HeartbeatTimeout,
		Gather: gather(cfg.HeartbeatPeriod), Logger: cfg.Logger, Observer: s,
	})
	if err != nil {
		views.discard()
		return nil, err
	}
	return &Member{node, views, &s.latest, s.recent, &s.tally}, nil
}

// gather is how long a coordinator waits for more changes: deaths seldom come alone.
func gather(period time.Duration) time.Duration {
	if period <= 0 {
		return groupnode.DefaultGather
	}
	return period / 20
}

// sink passes views on to a queue.
type sink struct {
	views    *viewQueue
	latest   atomic.Pointer[View]
	recent   *recent
	group    string
	founding groupnode.Founding
	tally    tally
}

func (s *sink) Founded(f groupnode.Founding) { s.founding = f }
func (s *sink) Installed(v *membership.View, card func(membership.Member) groupnode.Card, _ bool) {
	w := viewOf(s.group, s.founding, v, card)
	s.latest.Store(&w)
	s.recent.add(w)
	s.tally.installed(&w)
	s.views.give(w)
}
func (s *sink) Rival(string, groupnode.Founding)            {}
func (s *sink) Sent(membership.Member, *membership.Message) {}
func (s *sink) Ended(error) {
	s.recent.end()
	s.tally.end()
	s.views.close()
}

// Self is this member's identity, as it is in views.
func (m *Member) Self() Identity {
	card := m.node.Card()
	return Identity{Name: card.Name, Incarnation: uint32(m.node.Number().Incarnation), Address: card.Address}
}

// Views gives every view, in order and without a hole, beginning with the first one that has this
// member. A program may take its time to read them: the group doesn't wait for it. The channel is
// closed after the last view before the member's end; then Err says why the member has ended.
func (m *Member) Views() <-chan View { return m.views.out }

// Latest is the view in force here, whether or not the program has read it from Views. After the
// member's end it is the last one. Others may have a later view already: what must be done only
// once needs the view's token as a fence, or a [Lease].
func (m *Member) Latest() View { return *m.latest.Load() }

// Err says why the member has ended. It is nil if the member hasn't.
func (m *Member) Err() error { return m.node.Err() }

// SetMetadata changes what this member says of itself. It returns at once, with an error if the
// text is too long. All members get the change in the same view, unless this one ends first. Views
// come in order, so of two changes nobody gets the second one first. Changes that follow each other
// fast may come as one, the last. In a cut, a side without a quorum has no views and no changes.
func (m *Member) SetMetadata(text string) error { return m.node.SetMetadata(text) }

// Leave asks to leave, and returns when the others have a view without this member, whose Left
// names it. If ctx ends first the member goes on leaving.
func (m *Member) Leave(ctx context.Context) error { return m.node.Leave(ctx) }

// Close ends the member, unless it has ended already, and frees all that it has. To the others
// the member has died, unless it had left. Views that haven't been read are dropped. Close waits
// for leases to be released or to end. It may be called more than once.
func (m *Member) Close() {
	m.node.Close()
	m.views.discard()
}
