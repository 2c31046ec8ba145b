package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
	"banyan/internal/job/reach"
)

// viewer is a console in this process: it shows a job, and passes on what this process is sent.
type viewer struct {
	console.Console
	detaches bool // SIGQUIT ends the console alone

	caught chan os.Signal
	pass   chan os.Signal
	owner  atomic.Bool
	leave  chan struct{}
	once   sync.Once
	by     syscall.Signal // what has ended the console; valid when leave is closed
	from   *console.Reach // how the launcher was reached; nil: it is on this machine
	gone   string         // the host whose launcher was lost; empty: none was
}

func newViewer(detaches bool) *viewer {
	v := &viewer{detaches: detaches, caught: make(chan os.Signal, 4), pass: make(chan os.Signal, 4), leave: make(chan struct{})}
	v.Stdout, v.Stderr, v.Signals, v.Leave = os.Stdout, os.Stderr, v.pass, v.leave
	v.Welcomed = v.welcomed
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(v.caught, s)
		}
	}
	go v.route()
	return v
}

// close gives the signals back.
func (v *viewer) close() {
	signal.Stop(v.caught)
	close(v.caught)
}

// route passes signals to the job, but for those that end the console alone.
func (v *viewer) route() {
	for s := range v.caught {
		if s == unix.SIGHUP || s == unix.SIGQUIT && v.detaches || !v.owner.Load() {
			v.once.Do(func() {
				v.by = s.(syscall.Signal)
				close(v.leave)
			})
			continue
		}
		v.pass <- s
	}
}

func (v *viewer) welcomed(w console.Welcomed) {
	v.owner.Store(w.Owner)
	switch {
	case v.gone != "":
		fmt.Fprintf(os.Stderr, "banyan: the launcher on %s is gone; %s leads the job now\n", v.gone, w.Host)
		v.gone = ""
	case !v.detaches:
	case !w.Owner && !v.Watch:
		fmt.Fprintf(os.Stderr, "banyan: another console has %s: this one only watches\n", w.Job)
	case isTerminal(os.Stderr) && w.Owner:
		fmt.Fprintf(os.Stderr, "banyan: attached to %s; Ctrl-\\ detaches\n", w.Job)
	}
}

// follow shows the job until it or the console ends. If this process was stopped for long, the
// launcher has closed the connection, and the console attaches anew.
func (v *viewer) follow(folder console.Folder, name string, conn net.Conn) (o console.Outcome, err error) {
	var lost time.Time // when the launcher was lost, if it was
	for {
		o, err = v.Attach(conn)
		switch {
		case errors.Is(err, console.ErrOutput):
			return o, fmt.Errorf("%w; the job goes on: banyan attach %s", err, name)
		case errors.Is(err, console.ErrLauncherGone):
			lost = time.Now()
		case errors.Is(err, console.ErrNotWelcome) && !lost.IsZero() && time.Since(lost) < findLimit:
			time.Sleep(endingPause) // the socket may be that of a launcher of which not all is dead yet
		default:
			return o, err
		}
		if conn = v.next(folder, name); conn == nil {
			return o, gone(folder, name, true)
		}
		if words := folder.LastWords(name, true); words != "" {
			fmt.Fprintf(os.Stderr, "banyan: the launcher that is gone has said: %s\n", words)
		}
	}
}

// findLimit is how long a console looks for a job's next launcher.
const findLimit = 30 * time.Second

// next finds the job's launcher, or the next one: on this machine, or on the job's hosts. It
// returns nil if there is none.
func (v *viewer) next(folder console.Folder, name string) net.Conn {
	if v.from == nil {
		if conn, err := folder.Dial(name); err == nil {
			return conn
		}
	}
	last := v.Last()
	if last.Reach == nil {
		last.Reach = v.from
	}
	if last.Reach == nil {
		return nil
	}
	v.gone = last.Host
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-v.leave:
			cancel()
		case <-ctx.Done():
		}
	}()
	found := make(chan net.Conn)
	var looking sync.WaitGroup
	take := func(conn net.Conn) {
		select {
		case found <- conn:
		case <-ctx.Done():
			conn.Close()
		}
	}
	looking.Go(func() {
		if conn, err := reach.Find(ctx, last.Reach, name, findLimit); err == nil {
			take(conn)
		} else {
			slog.Debug("the job wasn't found", "err", err)
		}
	})
	looking.Go(func() {
		for until := time.Now().Add(findLimit); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(endingPause) {
			for _, f := range console.Folders() {
				if conn, err := f.Dial(name); err == nil {
					take(conn)
					return
				}
			}
		}
	})
	over := make(chan struct{})
	go func() { looking.Wait(); close(over) }()
	select {
	case conn := <-found:
		return conn
	case <-over:
		return nil
	}
}

// gone is the error for a launcher that has died. What it has left is removed, if that is shown.
func gone(folder console.Folder, name string, shown bool) error {
	if words := folder.LastWords(name, shown); words != "" {
		return fmt.Errorf("the launcher of %s has died, and the job with it unless another host leads it now (banyan jobs --host HOSTS): %s", name, words)
	}
	return fmt.Errorf("the launcher of %s has died, and the job with it unless another host leads it now (banyan jobs --host HOSTS)", name)
}

// result is how the command ends.
func (v *viewer) result(o console.Outcome) error {
	switch {
	case o.Left && v.by == unix.SIGQUIT:
		fmt.Fprintf(os.Stderr, "banyan: detached; the job goes on: banyan attach %s\n", o.Job)
		return nil
	case o.Left:
		return cli.Exit(128+int(v.by), nil)
	case o.Code != 0:
		return cli.Exit(o.Code, nil) // stderr has the reason already
	}
	return nil
}
