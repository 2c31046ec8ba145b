package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"banyan/internal/job/agent/secure"
)

// lingerLimit bounds the wait for the output of a command that was killed.
const lingerLimit = time.Second

// command is a run of How's command.
type command struct {
	how    How
	self   string
	of     []Agent                        // to be started
	order  func() (o *Order, wanted bool) // is called once, when a follower was heard
	key    secure.Key
	heard  func(w word)                  // a follower's word
	spoken func(number int, text string) // what the agent of a number has said, -1 for nobody's

	mu      sync.Mutex
	greeted bool
	ready   bool     // one of the agents
	said    []string // before that: the last lines
}

// run runs the command until it has ended. The error says why an agent that isn't ready won't be.
// final says that another attempt would have the same end.
func (c *command) run(ctx context.Context) (err error, final bool) {
	hosts := make([]string, len(c.of))
	for i, a := range c.of {
		hosts[i] = a.Host
	}
	argv := c.how.command(hosts, []string{c.self, followerName}, script(c.self, followerName))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = lingerLimit
	// Ctrl-C is for the console, which ends the agents in its own way.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = environment()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err, false
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err, false
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		return err, false
	}
	if err := cmd.Start(); err != nil {
		return err, true
	}
	var readers sync.WaitGroup
	readers.Go(func() { eachLine(out, func(text string) { c.hear(in, text) }) })
	readers.Go(func() { eachLine(errs, c.say) })
	// A command whose children hold the pipes must not hold us.
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lingerLimit, func() { out.Close(); errs.Close() }) })
	readers.Wait()
	stop()
	return c.explain(cmd.Wait())
}

// hear takes a line of stdout.
func (c *command) hear(in io.WriteCloser, text string) {
	_, unlabelled := c.how.label(text)
	w, ok := parseWord(unlabelled)
	if !ok {
		c.say(text)
		return
	}
	c.mu.Lock()
	again := w.Kind == hello && c.greeted
	if w.Kind == hello && !again {
		c.greeted, c.said = true, nil
	}
	c.ready = c.ready || w.Kind == ready
	c.mu.Unlock()
	switch {
	case again: // of another host of this command: all get the same order
	case w.Kind == hello:
		if o, wanted := c.order(); wanted {
			o.write(in, c.key) // if that fails the command ends, and says why
		}
		in.Close()
	default:
		c.heard(w)
	}
}

// say takes a line that is no word. Before an agent is ready it may say why none will be.
func (c *command) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	task, rest := c.how.label(text)
	number := -1
	for i, a := range c.of {
		if len(c.of) == 1 || i == task || task < 0 && names(text, a.name()) {
			number = a.Number
			break
		}
	}
	if c.ready {
		c.spoken(number, rest)
		return
	}
	const kept = 3
	if c.said = append(c.said, text); len(c.said) > kept {
		c.said = c.said[1:]
	}
}

// explain is why the command has ended.
func (c *command) explain(err error) (_ error, final bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := strings.Join(c.said, "; ")
	switch {
	case c.ready:
		return errors.New("its agent has ended"), false
	case all != "":
		return errors.New(all), hopeless(all)
	case err != nil:
		return fmt.Errorf("%s: %w", c.how.Words[0], err), false
	}
	return fmt.Errorf("%s has ended, and started nothing", c.how.Words[0]), false
}

// names says whether a line has a name as a word.
func names(line, name string) bool {
	return slices.Contains(strings.FieldsFunc(line, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-._", c)
	}), name)
}

// hopeless says whether another attempt would end in the same way.
func hopeless(said string) bool {
	for _, text := range []string{"Permission denied", "Host key verification failed", "Could not resolve", "there is no banyan"} {
		if strings.Contains(said, text) {
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
