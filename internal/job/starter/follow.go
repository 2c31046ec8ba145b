package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
)

// Follow reads an order from in, and is the agent that it orders until that ends. It tells on out
// what becomes of it, and of its branch. It changes the directory and the umask of this process.
// Of the configuration, Charge and Extend count.
func Follow(ctx context.Context, in io.Reader, out io.Writer, c remote.Config) error {
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
	end := o.relay(ctx, key, s)
	refused := o.check()
	err = refused
	if refused == nil {
		err = o.serve(ctx, number, key, s, c)
	}
	if err != nil {
		s.say(word{Kind: failed, Number: number, Text: err.Error(), Final: refused != nil})
	}
	end(refused == nil)
	return err
}

// serve is the agent.
func (o *Order) serve(ctx context.Context, number int, key secure.Key, s *speaker, c remote.Config) error {
	syscall.Umask(o.Umask)
	local, err := agent.NewLocal()
	if err != nil {
		return err
	}
	c.Addresses, c.Number, c.Key, c.Agent = o.Connect, number, key, local
	c.Begun = func() { s.say(word{Kind: ready, Number: number}) }
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

// check enters the directory, and checks that the programs are those of the console.
func (o *Order) check() error {
	if err := os.Chdir(o.Dir); err != nil {
		return fmt.Errorf("programs can't start in %s: %w: use a directory that all hosts have (--wdir)", o.Dir, errors.Unwrap(err))
	}
	for _, f := range o.Files {
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}
