package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"banyan/internal/job/agent/secure"
	"banyan/internal/job/agent/wire"
	"banyan/internal/runtime/handshake"
)

const (
	firstPause = 50 * time.Millisecond
	mostPause  = time.Second
	// synLimit bounds how long an address may not answer at all. The kernel would ask again after
	// 1, 3 and 7 s, and a link that is back after 4 s would be found when the lease is over. So
	// another attempt asks anew. Nor does a dead address hold up the others for longer.
	synLimit = 1200 * time.Millisecond
)

// errRefused says that a launcher that holds the job's key has refused this agent, or this agent
// it. Another attempt would have the same end.
var errRefused = errors.New("refused")

// dialler makes connections to the launcher.
type dialler struct {
	mu        sync.Mutex
	follows   bool // one launcher comes after the other: a refusal isn't final
	addresses []string
	changed   chan struct{} // closed when there are others
	key       secure.Key
	number    int
	build     string
	lookup    func(ctx context.Context, host string) ([]string, error) // for tests; nil: the resolver
}

// connection is a connection whose launcher has said welcome.
type connection struct {
	net.Conn
	reader  *wire.Reader
	welcome wire.Greeting
}

// dial tries all addresses at the same time, again and again with pauses that grow, until one
// welcomes this agent or ctx ends. hello makes the greeting of an attempt.
func (d *dialler) dial(ctx context.Context, hello func() wire.Greeting) (*connection, error) {
	pause := handshake.Backoff{Next: firstPause, Max: mostPause}
	for {
		addresses, changed := d.present()
		begun := time.Now()
		c, err, final := d.attempt(ctx, addresses, changed, hello)
		if err == nil || final && !d.following() {
			return c, err
		}
		if time.Since(begun) > mostPause {
			pause.Next = firstPause // the attempt has waited enough
		}
		// Agents that have lost the same connection shouldn't come back at the same moment.
		pause.Next = pause.Next/2 + rand.N(pause.Next)
		if !pause.Pause(ctx) {
			return nil, err
		}
	}
}

// follow says that one launcher comes after the other.
func (d *dialler) follow() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.follows = true
}

func (d *dialler) following() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.follows
}

// turn has the launcher looked for at other addresses.
func (d *dialler) turn(addresses []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.addresses = addresses
	close(d.changed)
	d.changed = make(chan struct{})
}

func (d *dialler) present() (addresses []string, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.addresses, d.changed
}

// attempt tries each address once, unless they have changed. final says that another
// attempt is no use.
func (d *dialler) attempt(ctx context.Context, addresses []string, changed <-chan struct{}, hello func() wire.Greeting) (c *connection, err error, final bool) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	addresses, unknown := d.resolve(ctx, addresses)
	var (
		all  sync.WaitGroup
		mu   sync.Mutex // only one address gets a hello at a time: several may be the launcher's
		errs = append(make([]error, len(addresses)), unknown...)
	)
	for i, address := range addresses {
		all.Go(func() {
			conn, err := d.connect(ctx, address)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				if c != nil || final {
					conn.Close()
					return
				}
				var welcomed *connection
				if welcomed, err = d.greet(ctx, conn, hello()); err == nil {
					c = welcomed
					cancel()
					return
				}
				conn.Close()
				final = final || errors.Is(err, errRefused)
			}
			errs[i] = fmt.Errorf("%s: %w", address, err)
		})
	}
	all.Wait()
	if c != nil {
		return c, nil, true
	}
	return nil, oneLine(errs), final || strange(errs)
}

// mostOfName bounds how many addresses of a name an attempt tries. The next one tries others.
const mostOfName = 32

// resolve finds the addresses of names. A name may stand for many hosts, such as all pods of a
// job, of which one has the launcher.
func (d *dialler) resolve(ctx context.Context, names []string) (addresses []string, errs []error) {
	lookup := d.lookup
	if lookup == nil {
		lookup = net.DefaultResolver.LookupHost
	}
	for _, name := range names {
		host, port, err := net.SplitHostPort(name)
		if err != nil || net.ParseIP(host) != nil {
			addresses = append(addresses, name)
			continue
		}
		all, err := lookup(ctx, host)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, ip := range all[:min(len(all), mostOfName)] {
			addresses = append(addresses, net.JoinHostPort(ip, port))
		}
	}
	return addresses, errs
}

// strange says whether every address has an answer, and none of them is a launcher of this job.
func strange(errs []error) bool {
	for _, err := range errs {
		if !errors.Is(err, secure.ErrOtherKey) && !errors.Is(err, secure.ErrStranger) {
			return false
		}
	}
	return true
}

// oneLine is an error with all texts in a line. A refusal says enough alone.
func oneLine(errs []error) error {
	var texts []string
	for _, err := range errs {
		if errors.Is(err, errRefused) {
			return err
		}
		if err != nil {
			texts = append(texts, err.Error())
		}
	}
	return errors.New(strings.Join(texts, "; "))
}

// connect makes a connection to an address that has proved that it is a launcher of this job.
func (d *dialler) connect(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: synLimit}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err // the address is said already
		}
		return nil, err
	}
	return secure.Dial(ctx, conn, d.key, d.number)
}

// greet says hello, and reads the answer.
func (d *dialler) greet(ctx context.Context, conn net.Conn, hello wire.Greeting) (*connection, error) {
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	f, err := hello.Frame(wire.Hello)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(wire.Append(nil, f)); err != nil {
		return nil, secure.Explain(err)
	}
	c := &connection{Conn: conn, reader: wire.NewReader(conn)}
	answer, err := c.reader.Read()
	if err != nil {
		return nil, secure.Explain(err)
	}
	if c.welcome, err = answer.Greeting(); err != nil {
		return nil, err
	}
	switch why := c.welcome.Disagreement(wire.Version, d.build, "the launcher"); {
	case answer.Kind == wire.Refusal && c.welcome.Text != "" && c.welcome.Passing:
		return nil, errors.New(c.welcome.Text)
	case answer.Kind == wire.Refusal && c.welcome.Text != "":
		return nil, fmt.Errorf("%w: %s", errRefused, c.welcome.Text)
	case answer.Kind != wire.Welcome:
		return nil, secure.ErrStranger
	case why != "":
		return nil, fmt.Errorf("%w: %s", errRefused, why)
	case c.welcome.Term < hello.Term:
		return nil, fmt.Errorf("%w: this launcher's term is %d, and there is one of term %d", errRefused, c.welcome.Term, hello.Term)
	}
	conn.SetDeadline(time.Time{})
	return c, nil
}
