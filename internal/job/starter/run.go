package starter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"banyan/internal/job/agent/secure"
)

// Start says how the agent of a host is started. All fields must be set.
type Start struct {
	How   How
	Self  string // the path of banyan here
	Host  string // as How's command gets it
	Order Order
	Key   secure.Key
	Ready func()            // is called when the agent begins
	Line  func(text string) // gets what the host says: the agent's stderr
}

// attempts is how often a host is tried to which no connection comes about.
const attempts = 3

// lingerLimit bounds the wait for the output of a command that was killed.
const lingerLimit = time.Second

// Run starts the agent, and returns when it has ended, or couldn't be started, or ctx has ended:
// the error says why. Before the agent is ready its words aren't passed to Line, but are part of
// the error.
func (s Start) Run(ctx context.Context) error {
	for n := 1; ; n++ {
		a := &attempt{Start: s}
		err := a.run(ctx)
		if err == nil || a.greeted || n == attempts || ctx.Err() != nil || a.hopeless() {
			return err
		}
		wait := time.Duration(n) * (500*time.Millisecond + rand.N(500*time.Millisecond))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}

// attempt is one command.
type attempt struct {
	Start
	mu      sync.Mutex
	greeted bool // the follower was heard
	ready   bool
	failed  string
	said    []string // before the agent was ready: the last lines
}

func (a *attempt) run(ctx context.Context) error {
	argv := a.How.command(a.Host, []string{a.Self, followerName}, script(a.Self))
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.WaitDelay = lingerLimit
	// Ctrl-C is for the console, which ends the agents in its own way.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.Env = environment()
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	errs, err := c.StderrPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	var readers sync.WaitGroup
	readers.Go(func() {
		eachLine(out, func(text string) {
			w, ok := parseWord(text)
			if !ok {
				a.say(text)
				return
			}
			if a.hear(w) == hello {
				a.Order.write(in, a.Key) // if that fails the command ends, and says why
				in.Close()
			}
		})
	})
	readers.Go(func() { eachLine(errs, a.say) })
	// A command whose children hold the pipes must not hold us.
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lingerLimit, func() { out.Close(); errs.Close() }) })
	readers.Wait()
	stop()
	return a.explain(c.Wait())
}

// hear takes a word of the follower.
func (a *attempt) hear(w word) kind {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch w.Kind {
	case hello:
		if a.greeted {
			return ""
		}
		a.greeted, a.said = true, nil
	case ready:
		if !a.ready {
			a.ready = true
			a.Ready()
		}
	case failed:
		a.failed = w.Text
	}
	return w.Kind
}

// say takes a line of the host.
func (a *attempt) say(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ready {
		a.Line(text)
		return
	}
	const kept = 3
	if a.said = append(a.said, text); len(a.said) > kept {
		a.said = a.said[1:]
	}
}

// explain is why the command has ended.
func (a *attempt) explain(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.failed != "":
		return errors.New(a.failed)
	case a.ready || err == nil && a.greeted:
		return nil
	case len(a.said) > 0:
		return errors.New(strings.Join(a.said, "; "))
	case err != nil:
		return fmt.Errorf("%s: %w", a.How[0], err)
	}
	return fmt.Errorf("%s has ended, and started nothing", a.How[0])
}

// hopeless says whether another attempt would end in the same way.
func (a *attempt) hopeless() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := strings.Join(a.said, "\n")
	for _, text := range []string{"Permission denied", "Host key verification failed", "Could not resolve", "there is no banyan"} {
		if strings.Contains(all, text) {
			return true
		}
	}
	return false
}

// environment is that of the command: variables in which Slurm tells how much memory the batch step
// has contradict srun's --mem.
func environment() (all []string) {
	for _, s := range os.Environ() {
		if !strings.HasPrefix(s, "SLURM_MEM_PER_") {
			all = append(all, s)
		}
	}
	return all
}
