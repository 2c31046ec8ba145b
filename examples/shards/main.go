// Shards shares 64 shards among processes that come and go. Each shard has one owner in each view
// of the group, and every process works out the same owners. The store refuses an owner that is
// late by the view's fencing token: also after all processes have ended and started again.
//
// In three terminals, with N from 1 to 3 and the same secret and store:
//
//	export GROUP_SECRET="$(head -c 24 /dev/urandom | base64)"   # the same in all three
//	S=127.0.0.1:7001,127.0.0.1:7002,127.0.0.1:7003
//	shards -name nN -listen 127.0.0.1:700N -seeds $S -expect 3 -dir /tmp/nN \
//		-http 127.0.0.1:800N /tmp/store
//
// Look at http://127.0.0.1:8001/. Kill one process, or all, and start them again by the same
// command.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"banyan/group"
)

func main() {
	cfg := group.Config{Group: "shards", Secret: []byte(os.Getenv("GROUP_SECRET")), Logger: slog.Default()}
	flag.StringVar(&cfg.Name, "name", "", "this process's `name`")
	flag.StringVar(&cfg.Listen, "listen", "", "`host:port` to listen at")
	flag.StringVar(&cfg.Dir, "dir", "", "`directory` in which this process remembers the group")
	flag.IntVar(&cfg.Expect, "expect", 0, "so `many` processes found the group together")
	seeds := flag.String("seeds", "", "`addresses` of all processes, separated by commas")
	address := flag.String("http", "127.0.0.1:0", "`host:port` of the status page")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: shards -name NAME [flags] STORE   (GROUP_SECRET in the environment)")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *seeds != "" {
		cfg.Seeds = strings.Split(*seeds, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg, &store{flag.Arg(0)}, *address); err != nil {
		fmt.Fprintln(os.Stderr, "shards:", err)
		os.Exit(1)
	}
}

// run owns shards until ctx ends, and leaves the group.
func run(ctx context.Context, cfg group.Config, s *store, address string) error {
	m, err := group.Join(ctx, cfg)
	if err != nil {
		return err
	}
	defer m.Close()
	o := &owner{name: cfg.Name, store: s}
	page, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer page.Close()
	go http.Serve(page, o) // until page is closed
	fmt.Printf("%v: status at http://%v/\n", m.Self(), page.Addr())
	if err := o.work(ctx, m); err != nil {
		return err
	}
	leaving, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return m.Leave(leaving)
}

// owner writes to the shards that it owns.
type owner struct {
	name  string
	store *store

	mu     sync.Mutex
	view   group.View
	writes int
	fenced int // writes that the store refused, because the view was late
}

// work takes each view, and writes to its shards meanwhile.
func (o *owner) work(ctx context.Context, m *group.Member) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case v, ok := <-m.Views():
			if !ok {
				return fmt.Errorf("out of the group: %w", m.Err())
			}
			o.mu.Lock()
			o.view = v
			o.mu.Unlock()
		case <-again.C:
			if err := o.write(); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// write writes to each shard that this process owns once. A store that has seen a later token
// refuses: another process owns the shard by a view that this one hasn't yet.
func (o *owner) write() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, shard := range owned(&o.view, o.name) {
		switch err := o.store.write(shard, o.view.Token, o.name); {
		case errors.Is(err, errLate):
			o.fenced++
		case err != nil:
			return err
		default:
			o.writes++
		}
	}
	return nil
}

// ServeHTTP shows the view, and what this process owns by it.
func (o *owner) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"name": o.name, "view": o.view, "shards": owned(&o.view, o.name), "writes": o.writes, "fenced": o.fenced,
	})
}
