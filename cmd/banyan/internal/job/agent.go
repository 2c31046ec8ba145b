package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/agent"
	"banyan/internal/job/agent/deadline"
	"banyan/internal/job/agent/guard"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/env"
	"banyan/internal/job/succession"
	"banyan/internal/proto"
)

const agentLong = `Agent starts and watches the processes of a job on this host, for a launcher (banyan run)
on another host. The launcher starts the agents of its hosts itself, with ssh, srun or
what --launch-agent says. Call it yourself only where something else starts programs on
hosts, such as Kubernetes.

The agent connects to the launcher and ends with it. Both prove to each other that they
hold the job's key, and refuse another build of Banyan. The key is a line of 64 hexadecimal
digits. The agent reads it from stdin, or from --key-file, which others must not be able to
read. It never stands in an argument or in the environment.

With --join it waits until the launcher is there, and takes the place of an agent of its number
when that one is lost. It tells the launcher its host's name and what else fails with the host
(--rack, --zone), so that replicas of a rank are kept apart. Name further hosts of the job, or a
name that stands for all of them: if the first launcher is lost the next one is on one of them, at
the same port, and an agent that comes then finds it there.

If the connection breaks the agent connects again. If it can't for as long as its lease
(5 s), it kills all processes of the job on this host, and ends. SIGINT, SIGTERM and SIGHUP
end it in the same way.

Exit code: 0 if the launcher has ended the agent; 1 if the agent was refused, found no
launcher, lost it or was ended by a signal: stderr says why in one line; 2 if the command
line is wrong.`

const agentExample = `  banyan agent --connect node0:40123 --number 3 < job.key
  banyan agent --connect 10.0.0.1:40123,192.168.7.1:40123 --number 3 --key-file job.key
  banyan agent --join job-0.job:7777 --key-file /etc/banyan/key   # in a Kubernetes Indexed Job
  banyan agent --join job-0.job:7777,job:7777 --key-file /etc/banyan/key   # … or any of its pods
  banyan agent --join job-0.job:7777 --number 3 --name h3 --zone east --slots 8 < job.key`

// joinLimit is how long an agent with --join waits for its launcher.
const joinLimit = 10 * time.Minute

// completionIndex is the variable by which Kubernetes numbers the pods of an Indexed Job.
const completionIndex = "JOB_COMPLETION_INDEX"

// agentFlags are the flags of banyan agent.
type agentFlags struct {
	connect, join, keyFile string
	number                 int
	wait                   time.Duration
	host                   agent.Host // what is to be said of it; empty fields: what the agent finds
}

// Page shows a job on a host that isn't its launcher's.
type Page interface {
	remote.Page
	// State is what it shows; nil: nothing.
	State() []byte
	Close()
}

// AgentCommand returns banyan agent. page makes what shows jobs.
func AgentCommand(page func() Page) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:     "agent {--connect|--join} HOST:PORT[,HOST:PORT…] --number K",
		Short:   "Start and watch the processes of a job on this host, for a launcher elsewhere",
		Long:    agentLong,
		Example: agentExample,
		Args:    cobra.NoArgs,
		Hidden:  true, // launchers call it
		RunE: func(cmd *cobra.Command, _ []string) error {
			parent, ok := guard.Inside()
			if !ok {
				return guarded()
			}
			defer parent.Done()
			c, err := f.config(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			c.Charge, c.Sweep = parent.Charge, parent.Sweep
			if c.Extend, err = obeyLease(); err != nil {
				return cli.Failed(err)
			}
			return f.serve(cmd.Context(), c, leaving(parent), page())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.connect, "connect", "", "connect to the launcher at `HOST:PORT`, or at the first of several that answers")
	flags.StringVar(&f.join, "join", "", fmt.Sprintf("as --connect, but wait for the launcher at `HOST:PORT`, or another one, for %v: it may start later", joinLimit))
	flags.IntVar(&f.number, "number", 0, "the agent's number `K`, from 0 on, by which the launcher knows it (default $"+completionIndex+")")
	flags.StringVar(&f.keyFile, "key-file", "", "read the job's key from `FILE` in place of stdin")
	flags.DurationVar(&f.wait, "wait", 0, fmt.Sprintf("wait for the launcher up to a `TIME`, such as 90s (default %v, or %v with --join)", remote.DefaultLimit, joinLimit))
	flags.StringVar(&f.host.Name, "name", "", "call this host `NAME` (default: what it calls itself)")
	flags.IntVar(&f.host.Slots, "slots", 0, "this host is for `N` processes (default: as many as are needed)")
	flags.StringVar(&f.host.Rack, "rack", "", "this host fails with others of the rack `NAME`")
	flags.StringVar(&f.host.Zone, "zone", "", "this host fails with others of the zone `NAME`")
	return cmd
}

// guarded is the agent's parent.
func guarded() error {
	left, code, err := guard.Run()
	if left != "" {
		takeLeave(left)
	}
	if code == 0 && err == nil {
		return nil
	}
	return cli.Exit(code, err)
}

// obeyLease returns what has the kernel kill this process, the agent, when its lease ends.
func obeyLease() (extend func(until proto.Time), err error) {
	t, err := deadline.New()
	if err != nil {
		return nil, fmt.Errorf("the agent can't begin: %w", err)
	}
	return func(until proto.Time) { t.Set(until) }, nil // it can't fail: the timer is there
}

// config makes the agent's configuration of the flags. It reads the key last.
func (f *agentFlags) config(changed func(flag string) bool) (c remote.Config, err error) {
	c.Limit = f.wait
	switch {
	case (f.connect == "") == (f.join == ""):
		return c, errors.New("want either --connect or --join with the launcher's HOST:PORT")
	case f.wait < 0 || f.wait == 0 && changed("wait"):
		return c, fmt.Errorf("--wait is %v: want a time such as 90s", f.wait)
	case f.host.Slots < 0 || f.host.Slots == 0 && changed("slots"):
		return c, fmt.Errorf("--slots is %d: want at least 1", f.host.Slots)
	case f.join != "" && f.wait == 0:
		c.Limit = joinLimit
	}
	for a := range strings.SplitSeq(f.connect+f.join, ",") {
		host, port, err := net.SplitHostPort(a)
		if err != nil || host == "" || port == "" {
			return c, fmt.Errorf("%q is no address of a launcher: want HOST:PORT", a)
		}
		c.Addresses = append(c.Addresses, a)
	}
	if c.Number = f.number; !changed("number") {
		text, ok := os.LookupEnv(completionIndex)
		if c.Number, err = strconv.Atoi(text); !ok || err != nil {
			return c, fmt.Errorf("want the agent's --number (or %s in the environment)", completionIndex)
		}
	}
	if c.Number < 0 || c.Number > secure.MaxNumber {
		return c, fmt.Errorf("--number is %d: want one from 0 to %d", c.Number, secure.MaxNumber)
	}
	c.Key, err = f.key()
	return c, err
}

// key reads the job's key.
func (f *agentFlags) key() (secure.Key, error) {
	if f.keyFile != "" {
		return secure.ReadKeyFile(f.keyFile)
	}
	if _, err := unix.IoctlGetTermios(int(os.Stdin.Fd()), unix.TCGETS); err == nil {
		fmt.Fprintln(os.Stderr, "banyan: the job's key is read from this terminal")
	}
	return secure.ReadKey(os.Stdin)
}

// serve is the agent at work.
func (f *agentFlags) serve(ctx context.Context, c remote.Config, leave func(succession.Parting), page Page) error {
	defer page.Close()
	if os.Getenv(env.Debug) != "" {
		slog.SetLogLoggerLevel(slog.LevelDebug)
	}
	if err := secure.HideMemory(); err != nil {
		return cli.Failed(err)
	}
	// What has started the agent may go before it, as ssh does, and take the reader of stderr with
	// it. That must not kill the agent when it writes, and the processes must not ignore it.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	ctx, stop := cli.Interruptible(ctx)
	defer stop()
	local, err := agent.NewLocal()
	if err != nil {
		return cli.Failedf("the agent can't begin: %w", err)
	}
	c.Agent = described{local, f.host}
	port := 0
	if f.join != "" { // agents that come later look at the same port
		_, text, _ := net.SplitHostPort(c.Addresses[0])
		port, _ = net.LookupPort("tcp", text)
	}
	peers := succession.NewMember(c.Key, c.Extend, leave, port, page.State)
	defer peers.Close()
	c.Peers, c.Page = peers, page
	if err := remote.Serve(ctx, c); err != nil {
		return cli.Failedf("agent %d on %s: %w", c.Number, c.Agent.Host().Name, told(err))
	}
	return nil
}

// described is an agent that says of its host what it was told.
type described struct {
	agent.Agent
	host agent.Host
}

// Host implements agent.Agent.
func (d described) Host() agent.Host {
	h := d.Agent.Host()
	h.Name = cmp.Or(d.host.Name, h.Name)
	h.Slots, h.Rack, h.Zone = d.host.Slots, d.host.Rack, d.host.Zone
	return h
}

// told is an error in words for people.
func told(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("ended by a signal; its processes were killed")
	}
	return err
}
