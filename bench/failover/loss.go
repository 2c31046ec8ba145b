package failover

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Loss is a way in which a host is lost: a shell command, in which {host} stands for the host,
// {agent} for the number of its agent's process, and {processes} for those of its ranks.
type Loss struct {
	Name string
	text string
}

// The ways that need nothing but ssh. A host whose agent is stopped, and its processes, is silent
// as one that has lost its power, but for its kernel, which still takes what is sent there.
const (
	Agent   = "agent"
	Silence = "silence"
)

// NewLoss is one of the known ways, with a command as ssh, or one of the user's.
func NewLoss(text, ssh string) (Loss, error) {
	switch text {
	case Agent:
		return Loss{text, ssh + " {host} kill -KILL {agent}"}, nil
	case Silence:
		return Loss{text, ssh + " {host} kill -STOP {agent} {processes}"}, nil
	}
	if !strings.Contains(text, " ") {
		return Loss{}, fmt.Errorf("%q: there are %s, %s, and commands such as 'ssh {host} kill -KILL {agent}'", text, Agent, Silence)
	}
	return Loss{text, text}, nil
}

// command is what is done to a host, by what the processes tell of themselves.
func (l Loss) command(host string, at []told) (string, error) {
	var agent int64
	var processes, others []string
	for _, t := range at {
		if same(t.host, host) {
			agent = t.b
			processes = append(processes, strconv.FormatInt(t.a, 10))
		} else if !slices.Contains(others, t.host) {
			others = append(others, t.host)
		}
	}
	if len(processes) == 0 {
		return "", fmt.Errorf("no process is on %s: they are on %s", host, strings.Join(others, ", "))
	}
	slices.Sort(processes)
	return strings.NewReplacer("{host}", host, "{agent}", strconv.FormatInt(agent, 10), "{processes}", strings.Join(processes, " ")).Replace(l.text), nil
}

// same says whether a host that calls itself so is the one that the user means: one of the names
// may have a domain.
func same(itself, name string) bool {
	name = name[strings.LastIndexByte(name, '@')+1:]
	first := func(s string) string { return strings.SplitN(s, ".", 2)[0] }
	return itself == name || first(itself) == first(name)
}

// shell runs a shell command here.
func shell(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", text, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Restore runs a shell command that undoes a loss, in which {host} stands for the host.
func Restore(ctx context.Context, text, host string) error {
	return shell(ctx, strings.ReplaceAll(text, "{host}", host))
}
