// Workqueue shares work among processes that come and go. The work is files in a directory that all
// processes can reach. No process hands the work out: with each new view of the group every worker
// knows its new share.
//
// In three terminals:
//
//	export GROUP_SECRET="$(head -c 24 /dev/urandom | base64)"   # the same in all three
//	workqueue -name anna -listen 127.0.0.1:7946 -add 100 /tmp/queue
//	workqueue -name bert -seeds 127.0.0.1:7946 /tmp/queue
//	workqueue -name cleo -seeds 127.0.0.1:7946 /tmp/queue
//
// Kill one, even with -9, and the others take over its share at once. Start it again, with the
// others as seeds, and it gets its share back.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"banyan/group"
)

func main() {
	name := flag.String("name", "", "this worker's `name`")
	listen := flag.String("listen", "", "`host:port` to listen at (default any of 127.0.0.1)")
	seeds := flag.String("seeds", "", "`addresses` of others, separated by commas; none: the first worker")
	add := flag.Int("add", 0, "put so `many` tasks into the queue first")
	each := flag.Duration("each", 100*time.Millisecond, "how long a task takes")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: workqueue -name NAME [flags] DIRECTORY   (GROUP_SECRET in the environment)")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	cfg := group.Config{Name: *name, Listen: *listen, Secret: []byte(os.Getenv("GROUP_SECRET"))}
	if *seeds != "" {
		cfg.Seeds = strings.Split(*seeds, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg, flag.Arg(0), *add, *each); err != nil {
		fmt.Fprintln(os.Stderr, "workqueue:", err)
		if errors.Is(err, group.ErrConfig) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

// run works until the queue is empty, or ctx ends, and leaves the group.
func run(ctx context.Context, cfg group.Config, directory string, add int, each time.Duration) error {
	q, err := openQueue(directory)
	if err == nil {
		err = q.add(add)
	}
	if err != nil {
		return err
	}
	m, err := group.Join(ctx, cfg)
	if err != nil {
		return err
	}
	defer m.Close()
	fmt.Printf("%v at %s\n", m.Self(), m.Self().Address)
	if err := work(ctx, m, q, each); err != nil {
		return err
	}
	leaving, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return m.Leave(leaving)
}

// work does this worker's share of the tasks, which changes with each view.
func work(ctx context.Context, m *group.Member, q *queue, each time.Duration) error {
	var view group.View
	idle := time.NewTicker(50 * time.Millisecond)
	defer idle.Stop()
	for {
		tasks, err := q.tasks()
		if err != nil {
			return err
		}
		if len(tasks) == 0 && view.Number > 0 {
			return nil
		}
		mine := share(tasks, view, m.Self().Name)
		var next <-chan time.Time // when this task ends, or when to look for tasks again
		if len(mine) > 0 {
			next = time.After(each) // a real worker would work here
		} else {
			next = idle.C
		}
		select {
		case v, ok := <-m.Views():
			if !ok {
				// The others have taken over the share, so this worker drops its unfinished task.
				return fmt.Errorf("out of the group: %w", m.Err())
			}
			view = v
			fmt.Printf("view %d of %v: joined %v, left %v, died %v; %d of %d tasks are mine\n", v.Number, v.Members,
				v.Joined, v.Left, v.Died, len(share(tasks, v, m.Self().Name)), len(tasks))
		case <-next:
			if len(mine) == 0 {
				continue
			}
			if err := q.done(mine[0], m.Self().String()); err != nil && !errors.Is(err, errDoneAlready) {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}
