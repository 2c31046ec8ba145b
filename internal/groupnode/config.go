package groupnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"banyan/internal/proto/membership"
	"banyan/internal/runtime/handshake"
)

// MinSecret is the shortest allowed secret in bytes. It has to be random.
const MinSecret = handshake.MinSecret

// Config is what a member needs to know. Only Name and Secret have no default.
type Config struct {
	// Group is the group's name, the same for all members. Groups of different names don't mix.
	Group     string
	Name      string
	Listen    string   // host:port to listen at; the default is 127.0.0.1:0
	Advertise string   // how others reach it, if that isn't how it listens
	Seeds     []string // addresses of members; none: found a group
	Secret    []byte   // the group's; at least MinSecret bytes
	// OtherSecrets are accepted of diallers, too, while Secret is being changed.
	OtherSecrets [][]byte
	Arity        int  // of the tree, a power of two; 2 if 0
	Encrypt      bool // seal what members say to each other
	// Dir is where this process keeps what it must know after its end; "": nowhere.
	Dir string
	// Metadata is what this member says of itself from its first view on.
	Metadata string
	// Expect is how many processes found the group together, if it never was. 0: one without seeds
	// founds it alone.
	Expect int
	// Recover founds the group anew, on an operator's word that no member lives.
	Recover bool

	// Period (η) is the time between heartbeats; if 0 it is 250 ms, but at most a quarter of
	// Timeout.
	// Timeout (δ) is the silence that is taken for a death; if 0 it is 1 s, and at least ten
	// times a Period that is given.
	Period, Timeout time.Duration
	// Gather is how long a coordinator waits for more changes, which then make one view. The
	// default is not to wait.
	Gather time.Duration
	// Patience is how long a side without a quorum waits for one. 2δ if 0.
	Patience time.Duration

	// Epochs numbers the group's foundings. If nil the clock does.
	Epochs Epochs

	Logger   *slog.Logger // nil: none
	Observer Observer     // nil: none

	lookup func(ctx context.Context, host string) ([]string, error) // nil: DNS
	apart  bool                                                     // tests: no other member's kernel knows of this one's end
	// slowDisk is called, in tests, before each write of what a member remembers.
	slowDisk  func()
	diskStall time.Duration // how long a disk may take at least; 0: leastDiskStall
}

// Observer is told what a member does, as it does it. The member's loop calls its methods and
// waits for them: they must not block, nor call the member.
type Observer interface {
	// Founded is called before the first view. It says which founding of the group the member is
	// in.
	Founded(f Founding)
	// Installed is called with each view in force, in order. card gives the business card of a
	// member in the view, or gone with it; it may be called until Installed returns. stable says
	// that this member is the coordinator and has all acknowledgements: the end of the paper's
	// stabilisation time.
	Installed(v *membership.View, card func(membership.Member) Card, stable bool)
	// Rival is called when a member of another founding of the group is met.
	Rival(address string, f Founding)
	// Sent is called with each message of the membership to another member. The first Propose of
	// a number begins the stabilisation time.
	Sent(to membership.Member, x *membership.Message)
	// Ended is called last, at the member's end. A member that never had a view ends with the
	// error that Join returns.
	Ended(err error)
}

// noObserver ignores all calls.
type noObserver struct{}

func (noObserver) Rival(string, Founding)                                         {}
func (noObserver) Founded(Founding)                                               {}
func (noObserver) Installed(*membership.View, func(membership.Member) Card, bool) {}
func (noObserver) Sent(membership.Member, *membership.Message)                    {}
func (noObserver) Ended(error)                                                    {}

// DefaultPeriod is the time between heartbeats where none is given.
const DefaultPeriod = 250 * time.Millisecond

// DefaultGather is how long a coordinator waits for more changes in groups of the default period.
const DefaultGather = 5 * time.Millisecond

// leastDiskStall is how long a disk may take for a write, however short the time-out is.
const leastDiskStall = 10 * time.Second

// wrong is an error in a field of Config.
func wrong(field, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", ErrConfig, field, fmt.Errorf(format, args...))
}

// addressFreed is how long a member waits for an address that is in use. A process that this one
// is just starting holds a copy of each socket until it calls exec. So an address stays in use for
// some milliseconds (20 on a busy machine) after a member here has freed it.
const addressFreed = 250 * time.Millisecond

// open completes a Config, and listens.
func (c *Config) open() (*net.TCPListener, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	socket, err := net.Listen("tcp", c.Listen)
	for deadline := time.Now().Add(addressFreed); err != nil && isAddressInUse(err); {
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w: %s: another process listens there, or this one still does", ErrAddressInUse, c.Listen)
		}
		time.Sleep(time.Millisecond)
		socket, err = net.Listen("tcp", c.Listen)
	}
	if err != nil {
		return nil, wrong("Listen", "%w", err)
	}
	return socket.(*net.TCPListener), nil
}

// complete fills in the defaults and checks the fields.
func (c *Config) complete() error {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Arity == 0 {
		c.Arity = 2
	}
	if c.Period == 0 {
		c.Period = DefaultPeriod
		if c.Timeout > 0 {
			c.Period = min(c.Period, c.Timeout/4)
		}
		if c.Timeout == 0 {
			c.Timeout = 4 * c.Period
		}
	}
	if c.Timeout == 0 {
		c.Timeout = max(time.Second, 10*c.Period)
	}
	if c.Patience == 0 {
		c.Patience = 2 * c.Timeout
	}
	if c.diskStall == 0 {
		c.diskStall = leastDiskStall
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.lookup == nil {
		c.lookup = net.DefaultResolver.LookupHost
	}
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	if err := checkName(c.Name); err != nil {
		return wrong("Name", "%w", err)
	}
	if err := checkMetadata(c.Metadata); err != nil {
		return err
	}
	if c.Group != "" {
		if err := checkName(c.Group); err != nil {
			return wrong("Group", "%w", err)
		}
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return wrong("Listen", "%w", err)
	}
	if ip := net.ParseIP(host); c.Advertise == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		return wrong("Listen", "%s isn't an address that others can reach: Advertise must name one", c.Listen)
	}
	if c.Advertise != "" {
		if err := checkAddress(c.Advertise); err != nil {
			return wrong("Advertise", "%w", err)
		}
	}
	for _, s := range c.Seeds {
		if err := checkAddress(s); err != nil {
			return wrong("Seeds", "%w", err)
		}
	}
	machine := membership.Config{Arity: c.Arity}
	switch {
	case len(c.Secret) < MinSecret:
		return wrong("Secret", "%d bytes: want at least %d", len(c.Secret), MinSecret)
	case slices.ContainsFunc(c.OtherSecrets, func(s []byte) bool { return len(s) < MinSecret }):
		return wrong("OtherSecrets", "one has too few bytes: want at least %d", MinSecret)
	case c.Period < time.Millisecond:
		return wrong("HeartbeatPeriod", "%v: want at least 1ms", c.Period)
	case c.Timeout < 4*c.Period:
		return wrong("HeartbeatTimeout", "%v: want at least four periods of %v", c.Timeout, c.Period)
	case c.Expect < 0 || c.Expect > maxMembers:
		return wrong("Expect", "%d: want 0 to %d", c.Expect, maxMembers)
	case c.Expect > 1 && len(c.Seeds) == 0:
		return wrong("Expect", "%d processes have to find each other: Seeds must name some", c.Expect)
	case c.Gather < 0:
		return wrong("Gather", "%v: want 0 or more", c.Gather)
	case c.Patience < 0:
		return wrong("Patience", "%v: want 0 or more", c.Patience)
	case machine.Validate() != nil:
		return wrong("Arity", "%w", machine.Validate())
	}
	return nil
}

// These errors say why a member has ended, or couldn't join.
var (
	// ErrConfig: the Config is wrong; the error names the field.
	ErrConfig = errors.New("config")
	// ErrLeft: the member asked to leave.
	ErrLeft = errors.New("left the group")
	// ErrClosed: the member was closed without leaving. To the others it has died.
	ErrClosed = errors.New("closed")
	// ErrExcluded: the others took the member for dead and go on without it. Its process may join
	// again.
	ErrExcluded = errors.New("excluded: the group took this member for dead")
	// ErrMinority: the member could reach too few others, for longer than Patience.
	ErrMinority = errors.New("in a minority: too few members can be reached")
	// ErrNameInUse: a member of this name lives.
	ErrNameInUse = errors.New("the name is in use")
	// ErrRefused: the group refuses this process.
	ErrRefused = errors.New("refused")
	// ErrSecret: the process that answers has another secret.
	ErrSecret = errors.New("the secret isn't the group's")
	// ErrAddressInUse: another process listens at Listen. The Config may be right.
	ErrAddressInUse = errors.New("the address is in use")
	// ErrExists: a member of the group lives, so it isn't founded anew.
	ErrExists = errors.New("the group has a live member")
)
