package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/console"
	"banyan/internal/job/env"
	"banyan/internal/job/fleet"
	"banyan/internal/job/hosts"
	"banyan/internal/job/launcher"
	"banyan/internal/job/placement"
	"banyan/internal/job/starter"
	"banyan/internal/job/steward"
	"banyan/internal/layout"
)

// hostFlags are the flags of banyan run about its hosts, and what is known of these.
type hostFlags struct {
	spares, least         int
	shared, oversubscribe bool
	launchAgent           string
	stage                 bool     // the program is sent
	files                 []string // and these
	witness               string   // a host that votes, without processes
	witnessDir            string   // a directory that does
	listen, keyFile       string   // for agents that come by themselves
	agents                int
	wait                  time.Duration

	list  hosts.List // of all programs; nil: this machine alone
	here  int        // this machine's place in it, -1 if it isn't there
	parts []placement.Part
	slurm bool // agents are started by srun
}

func (f *hostFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.spares, "spare-hosts", 0, "the last `N` hosts wait, to take the place of others")
	flags.IntVar(&f.least, "min-hosts", 0, "start if `N` hosts come up, besides spare ones (default: all)")
	flags.BoolVar(&f.shared, "allow-shared-host", false, "let replicas of a rank share a host if there is no other way; they die with it")
	flags.BoolVar(&f.oversubscribe, "oversubscribe", false, "let hosts have more processes than slots")
	flags.StringVar(&f.listen, "listen", "", "wait at `ADDRESS`, as :7117, for agents that something else starts (banyan agent --join)")
	flags.IntVar(&f.agents, "agents", 0, "with --listen: the first `N` agents are the job's hosts; their numbers are 0 to N-1")
	flags.StringVar(&f.keyFile, "key-file", "", "with --listen: read the job's key from `FILE`, a line of 64 hexadecimal digits")
	flags.DurationVar(&f.wait, "wait", 0, fmt.Sprintf("wait for hosts up to a `TIME`, such as 90s (default %v, or %v with --listen)", fleet.DefaultLimit, joinLimit))
	flags.BoolVar(&f.stage, "stage", false, "send the program to hosts that don't have it, or another one; it is removed there at the end")
	flags.StringArrayVar(&f.files, "stage-file", nil, "send `FILE` of this directory, too, for the program to find there (may be repeated)")
	flags.StringVar(&f.witness, "witness", "", "have `HOST`, where no process runs, vote on who goes on with the job when its launcher or a host dies: it takes three machines (with --detach or --on-console-loss=continue)")
	flags.StringVar(&f.witnessDir, "witness-dir", "", "have `DIR` vote, on a file system that all hosts share, when an even number of machines is left: then two hosts are enough, and the job outlives either (with --detach or --on-console-loss=continue)")
	flags.StringVar(&f.launchAgent, "launch-agent", "", "start agents by `COMMAND` with {host} (or {hosts}) and {agent} in it (default ssh, or $BANYAN_SSH; srun inside Slurm)")
}

// find finds the job's hosts: those of the command line, else those of an allocation. all are the
// flags of each program.
func (f *hostFlags) find(all []*partFlags) error {
	if err := f.checkWitness(); err != nil {
		return err
	}
	if f.wait < 0 {
		return fmt.Errorf("--wait is %v: want a time such as 90s", f.wait)
	}
	if f.listen != "" || f.agents != 0 || f.keyFile != "" {
		return f.await(all)
	}
	allocation, err := hosts.FindAllocation(hosts.ThisSystem())
	given := false
	for _, p := range all {
		given = given || p.list != nil
	}
	switch {
	case given:
		if f.list, err = union(all); err != nil {
			return err
		}
	case err != nil:
		return err
	case allocation != nil:
		f.list = allocation.Hosts
	default:
		return f.checkAlone()
	}
	here, err := hosts.FindHere()
	if err != nil {
		return err
	}
	if f.list, f.here, err = here.Find(f.list); err != nil {
		return err
	}
	f.slurm = allocation != nil && allocation.Slurm
	for _, h := range f.list {
		f.slurm = f.slurm && allocation.Hosts.Index(h.Name) >= 0
	}
	if len(all) > 1 && given {
		for _, p := range all {
			part := placement.Part{}
			for _, h := range p.list {
				i := f.list.Index(h.Name)
				if i < 0 { // another name of this machine
					i = f.here
				}
				part.Hosts = append(part.Hosts, i)
			}
			f.parts = append(f.parts, part)
		}
	}
	if f.alone() {
		return f.checkAlone()
	}
	if f.witness != "" && f.list.Index(f.witness) >= 0 {
		return fmt.Errorf("--witness is %s, where processes run: name another host", f.witness)
	}
	return f.checkNumbers()
}

// await checks the flags about agents that come by themselves.
func (f *hostFlags) await(all []*partFlags) error {
	for _, p := range all {
		if p.list != nil {
			return errors.New("--listen waits for agents that come by themselves: --host and --hostfile can't name them")
		}
	}
	_, port, err := net.SplitHostPort(f.listen)
	switch {
	case f.listen == "" || f.keyFile == "" || f.agents == 0:
		return errors.New("--listen, --agents and --key-file belong together, as in --listen :7117 --agents 4 --key-file job.key")
	case err != nil || port == "":
		return fmt.Errorf("--listen is %q: want an address such as :7117 or 10.0.0.1:7117", f.listen)
	case f.agents < 1 || f.agents > launcher.MaxProcs:
		return fmt.Errorf("--agents is %d: want 1 to %d", f.agents, launcher.MaxProcs)
	case f.stage || len(f.files) > 0:
		return errors.New("--listen waits for agents that something else starts, and has placed programs there: --stage needs --host or an allocation")
	case f.witness != "":
		return errors.New("--listen waits for agents that something else starts: --witness would start one")
	case f.launchAgent != "":
		return errors.New("--listen waits for agents that something else starts: --launch-agent would start them")
	}
	f.list, f.here = fleet.Awaited(f.agents), -1
	f.wait = cmp.Or(f.wait, joinLimit)
	return f.checkNumbers()
}

// checkNumbers checks the numbers of hosts.
func (f *hostFlags) checkNumbers() error {
	switch {
	case f.spares < 0 || f.spares >= len(f.list):
		return fmt.Errorf("--spare-hosts is %d: want less than the %d hosts", f.spares, len(f.list))
	case f.least < 0 || f.least > len(f.list)-f.spares:
		return fmt.Errorf("--min-hosts is %d: there are %d hosts that aren't spare", f.least, len(f.list)-f.spares)
	}
	return nil
}

// union is the list of all programs' hosts. A host that several name has the slots of all.
func union(all []*partFlags) (list hosts.List, err error) {
	for _, p := range all {
		list = append(list, p.list...)
	}
	return hosts.Join(list)
}

// alone says whether this machine is the only host.
func (f *hostFlags) alone() bool { return f.list == nil || len(f.list) == 1 && f.here == 0 }

func (f *hostFlags) checkAlone() error {
	if f.spares != 0 || f.least > 1 {
		return errors.New("--spare-hosts and --min-hosts need other hosts than this machine: name them with --host or --hostfile")
	}
	if f.witness != "" || f.witnessDir != "" {
		return errors.New("--witness and --witness-dir need other hosts than this machine: name them with --host or --hostfile")
	}
	return nil
}

// checkWitness checks what breaks ties.
func (f *hostFlags) checkWitness() (err error) {
	switch {
	case f.witnessDir == "":
		return nil
	case f.witness != "":
		return errors.New("--witness and --witness-dir are two ways to break a tie: give one of them")
	}
	if f.witnessDir, err = filepath.Abs(f.witnessDir); err != nil {
		return fmt.Errorf("--witness-dir: %w", err)
	}
	if err := steward.CheckDirectory(f.witnessDir); err != nil {
		return fmt.Errorf("--witness-dir: %w", err)
	}
	return nil
}

// ranks is how many ranks a program has that doesn't say it. list is that of its hosts.
func (f *hostFlags) ranks(list hosts.List, replicas string) int {
	each, err := strconv.Atoi(replicas)
	if err != nil || each < 1 || f.alone() {
		each = 1
	}
	if f.list != nil && list == nil {
		list = f.list
	}
	if len(list) == len(f.list) {
		list = list[:len(list)-f.spares]
	}
	n := list.Slots()
	if n == 0 {
		n = len(list)
	}
	return max(n/each, 1)
}

// gather brings up the agents of a job, and has the launcher use them.
func (f *hostFlags) gather(c *launcher.Config, degrees []int) (*fleet.Fleet, error) {
	if c.Transport == launcher.TransportInproc {
		return nil, errors.New("the transport inproc has all ranks in one process: they can't be on several hosts")
	}
	job := placement.Job{Layout: layout.Partial(degrees), AllowShared: f.shared, Oversubscribe: f.oversubscribe, Parts: f.parts}
	all := append([]launcher.Part{{Ranks: c.Ranks, Program: c.Program, Args: c.Args, Env: c.Env, Dir: c.Dir}}, c.More...)
	for i := range f.parts {
		f.parts[i].Ranks = all[i].Ranks
	}
	how, err := f.how()
	if err != nil {
		return nil, err
	}
	join, err := f.join()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	order := starter.Order{Umask: syscall.Umask(0)}
	syscall.Umask(order.Umask)
	if order.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	if order.Files, err = f.needed(all); err != nil {
		return nil, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-c.Signals:
			end()
		case <-ctx.Done():
		}
	}()
	var witness *hosts.Host
	if f.witness != "" {
		list, err := hosts.ParseList(f.witness)
		if err != nil || len(list) != 1 {
			return nil, fmt.Errorf("--witness is %q: want one host", f.witness)
		}
		witness = &list[0]
	}
	ready, err := fleet.Start(ctx, fleet.Config{
		Witness: witness,
		Hosts:   f.list, Here: f.here, Spares: f.spares, Min: f.least, All: c.Heal, Job: job, How: how, Self: self, Order: order, Stage: f.stage, Join: join, Limit: f.wait,
		Note: func(text string) { fmt.Fprintln(c.Stderr, "banyan:", text) },
	})
	if errors.Is(err, context.Canceled) {
		return nil, cli.Exit(128+int(syscall.SIGINT), errors.New("interrupted before all hosts had come up"))
	}
	if impossible := (*placement.ImpossibleError)(nil); err != nil && !errors.As(err, &impossible) {
		return nil, cli.Exit(1, err)
	}
	if err != nil {
		return nil, err
	}
	c.Agents, c.Names, c.Racks, c.Arrivals = ready.Agents, ready.Names(), ready.Racks(), ready.Arrivals()
	c.Places, c.Rehome, c.Evacuate, c.AllowSharedHost = ready.Places, ready.Rehome, ready.Evacuate, f.shared
	c.AddHosts, c.Slots = ready.Add, f.list.Slots()
	c.Connected, c.Gathered = ready.Phases.Connect, ready.Phases.Agents
	return ready, nil
}

// join is where agents come to by themselves, nil if they don't.
func (f *hostFlags) join() (*fleet.Join, error) {
	if f.listen == "" {
		return nil, nil
	}
	key, err := secure.ReadKeyFile(f.keyFile)
	return &fleet.Join{Address: f.listen, Key: key}, err
}

// placeable says whether the launcher accepts the numbers of replicas. It refuses others better.
func placeable(degrees []int) bool {
	total := 0
	for _, n := range degrees {
		if n < 1 || n > layout.MaxDegree {
			return false
		}
		total += n
	}
	return total > 0 && total <= launcher.MaxProcs
}

// reach is how consoles find the job's hosts if its launcher is lost; nil: not at all.
func (f *hostFlags) reach() *console.Reach {
	how, err := f.how()
	self, e := os.Executable()
	if f.alone() || f.listen != "" || err != nil || e != nil {
		return nil
	}
	r := &console.Reach{Words: how.Words, Self: self}
	for i, h := range f.list {
		if i != f.here {
			r.Hosts = append(r.Hosts, h.Name)
		}
	}
	return r
}

// how is how agents are started.
func (f *hostFlags) how() (starter.How, error) {
	if f.slurm && f.launchAgent == "" && os.Getenv(env.SSH) == "" {
		return starter.Srun(), nil
	}
	return howTo(f.launchAgent)
}

// howTo is how commands are run on other hosts: by the template, if it isn't empty, else by ssh.
func howTo(template string) (starter.How, error) {
	ssh := os.Getenv(env.SSH)
	if template != "" {
		how, err := starter.Template(template)
		if err != nil {
			return how, fmt.Errorf("--launch-agent %w", err)
		}
		return how, nil
	}
	how, err := starter.SSH(ssh)
	if err != nil {
		return how, fmt.Errorf("%s: %w", env.SSH, err)
	}
	return how, nil
}
