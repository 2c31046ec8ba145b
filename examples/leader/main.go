// Leader elects one of several processes, which writes the time to a file once in a while. The
// leader is the first member of the group's view. It acts only under a lease on that view: as
// long as the lease holds, no process has a later view, so nobody else leads. The file compares
// nothing: it stands for a valve, or a service that knows no tokens.
//
// In three terminals, with N from 1 to 3 and the same secret:
//
//	export GROUP_SECRET="$(head -c 24 /dev/urandom | base64)"   # the same in all three
//	S=127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003
//	leader -name nN -listen 127.0.0.1:700N -seeds $S -expect 3 -dir /tmp/nN /tmp/times
//
// Kill the leader, or stop it with Ctrl-Z: after a moment another one writes. One that is stopped
// and goes on looks at its lease first, and doesn't write. statefulset.yaml runs the same on
// Kubernetes.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"banyan/group"
	"banyan/group/status"
)

func main() {
	cfg := group.Config{Group: "leader", Secret: []byte(os.Getenv("GROUP_SECRET")), Logger: slog.Default()}
	page := options(flag.CommandLine, &cfg)
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg, *page, writer(flag.Arg(0), cfg.Name)); err != nil {
		fmt.Fprintln(os.Stderr, "leader:", err)
		os.Exit(1)
	}
}

// options declares the flags. It returns the address of the status page.
func options(flags *flag.FlagSet, cfg *group.Config) (page *string) {
	flags.StringVar(&cfg.Name, "name", "", "this process's `name`")
	flags.StringVar(&cfg.Listen, "listen", "", "`host:port` to listen at")
	flags.StringVar(&cfg.Advertise, "advertise", "", "`host:port` by which the others reach this process, if that is another one")
	flags.StringVar(&cfg.Dir, "dir", "", "`directory` in which this process remembers the group")
	flags.IntVar(&cfg.Expect, "expect", 0, "so `many` processes found the group together")
	flags.Func("seeds", "`addresses` of all processes, separated by commas", func(list string) error {
		cfg.Seeds = strings.Split(list, ",")
		return nil
	})
	page = flags.String("http", "", "`host:port` of a status page")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: leader -name NAME [flags] FILE   (GROUP_SECRET in the environment)")
		flags.PrintDefaults()
	}
	return page
}

// run takes part in the election until ctx ends, and calls act again and again while it leads.
func run(ctx context.Context, cfg group.Config, page string, act func(*group.Lease) error) error {
	m, err := group.Join(ctx, cfg)
	if err != nil {
		return err
	}
	defer m.Close()
	if page != "" {
		server := &http.Server{Addr: page, Handler: status.Handler(m), ReadHeaderTimeout: time.Second}
		defer server.Close()
		go func() {
			if err := server.ListenAndServe(); ctx.Err() == nil && m.Err() == nil {
				slog.Error("no status page", "err", err)
			}
		}()
	}
	for c := range m.Watch(ctx) {
		if c.View.Members[0] == m.Self() {
			if err := lead(ctx, m, act); err != nil {
				return err
			}
		}
	}
	if ctx.Err() == nil {
		return fmt.Errorf("out of the group: %w", m.Err())
	}
	leaving, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return m.Leave(leaving)
}

// lead acts until another process leads, or ctx or the member ends. Each act has a lease of its
// own, which is released after it: meanwhile nobody joins and nobody is excluded.
func lead(ctx context.Context, m *group.Member, act func(*group.Lease) error) error {
	for {
		l, err := m.Lease(ctx)
		if err != nil {
			return nil // run says why
		}
		leads := l.View.Members[0] == m.Self()
		if leads {
			err = act(l)
		}
		l.Release()
		if err != nil || !leads {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// pause is from one act to the next.
const pause = 20 * time.Millisecond

// writer appends a line to a file, if the lease still holds right before.
func writer(path, name string) func(*group.Lease) error {
	return func(l *group.Lease) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		if !l.Valid() {
			return nil
		}
		_, err = fmt.Fprintln(f, time.Now().Format(time.RFC3339Nano), name, l.View.Number)
		return err
	}
}
