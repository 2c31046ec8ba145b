package starter

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/starter/stage"
)

// Follow reads an order from in, and is the agent that it orders until that ends. It tells on out
// what becomes of it, and of its branch. It changes the directory and the umask of this process.
// Of the configuration, Charge, Sweep, Extend and Page count. sweep is told a directory that the
// agent's parent is to remove if the agent dies. peers, if given, makes what joins the agent with
// others, and what ends that.
func Follow(ctx context.Context, in io.Reader, out io.Writer, c remote.Config, sweep func(dir string), peers Peers) error {
	s := &speaker{to: out}
	if err := s.say(word{Kind: hello}); err != nil {
		return err
	}
	o, key, err := readOrder(in)
	if err != nil {
		return err
	}
	number, err := o.me()
	if err == nil {
		err = o.checkBuild()
	}
	if err != nil {
		s.say(word{Kind: failed, Number: number, Text: err.Error(), Final: true})
		return err
	}
	f := &follower{Order: o, number: number, key: key, out: s, config: c, sweep: sweep, peers: peers}
	if len(o.Stage) > 0 {
		return f.runStaged(ctx)
	}
	end := f.relay(ctx)
	refused := o.check()
	err = refused
	if refused == nil {
		err = f.serve(ctx, &staged{})
	}
	f.tell(err, refused != nil)
	end(refused == nil)
	return err
}

// follower is one at work.
type follower struct {
	Order
	number int
	key    secure.Key
	out    *speaker
	config remote.Config // what isn't ordered
	sweep  func(dir string)
	peers  Peers
}

// Peers joins an agent with others: see remote.Config. end is called when the agent has ended.
type Peers func(key secure.Key) (peers remote.Peers, end func())

// runStaged is the agent of a host to which files are sent. If it is a head it has them first, and
// then serves them to its branch.
func (f *follower) runStaged(ctx context.Context) error {
	s, refused := f.stage(ctx, f.number, f.key, f.sweep)
	err := refused
	if refused == nil {
		defer s.close()
		if len(f.Branch) > 0 {
			if server, err := stage.Serve(f.key, s.files); err == nil {
				defer server.Close()
				f.Stage = append(remote.Addresses(server.Port()), f.Stage...)
			}
		}
	}
	end := f.relay(ctx)
	if refused == nil {
		err = f.serve(ctx, s)
	}
	f.tell(err, refused != nil)
	end(refused == nil)
	return err
}

// tell says why the agent has ended.
func (f *follower) tell(err error, final bool) {
	if err != nil {
		f.out.say(word{Kind: failed, Number: f.number, Text: err.Error(), Final: final})
	}
}

// serve is the agent.
func (f *follower) serve(ctx context.Context, s *staged) error {
	syscall.Umask(f.Umask)
	local, err := agent.NewLocal()
	if err != nil {
		return err
	}
	c := f.config
	c.Addresses, c.Number, c.Key, c.Agent = f.Connect, f.number, f.key, s.wrap(local)
	c.Begun = func() { f.out.say(word{Kind: ready, Number: f.number}) }
	if f.peers != nil {
		peers, end := f.peers(f.key)
		defer end()
		c.Peers = peers
	}
	return remote.Serve(ctx, c)
}

// me is the number of this host's agent.
func (o *Order) me() (int, error) {
	if len(o.Agents) == 1 {
		return o.Agents[0].Number, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return -1, err
	}
	short, _, _ := strings.Cut(name, ".")
	// Slurm's name of a node needn't be what its kernel says.
	for _, name := range []string{os.Getenv("SLURMD_NODENAME"), name, short} {
		for _, a := range o.Agents {
			if name != "" && strings.EqualFold(a.name(), name) {
				return a.Number, nil
			}
		}
	}
	return -1, fmt.Errorf("an agent was started on %s, which isn't one of the hosts that it was ordered for", name)
}

// name is the agent's host without the user.
func (a Agent) name() string { return a.Host[strings.LastIndexByte(a.Host, '@')+1:] }

func (o *Order) checkBuild() error {
	if here := secure.Build(); here != o.Build {
		self, _ := os.Executable()
		return fmt.Errorf("%s is another build of banyan (%s) than the console's (%s): copy that one there", self, here, o.Build)
	}
	return nil
}
