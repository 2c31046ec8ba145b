// Package reach connects consoles to jobs whose launchers are on other hosts: by the command that
// starts agents there, such as ssh, which runs a relay (banyan attach --raw) beside the launcher.
//
// The relay finds the job's socket, says so in a line, and then passes on bytes in both directions.
// So nothing listens for consoles but the socket of the user's own folder, and what lets a user
// onto a host is what lets them see a job there.
//
// # Invariants
//
//   - Every wait is bounded: a relay that doesn't find the job in its time ends, and so does Find.
//   - A connection that is closed ends its command.
//   - Neither keys nor addresses of agents are used.
//
// # Limits
//
// Agents that something else has started (banyan run --listen) can't be reached so.
package reach

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"banyan/internal/job/console"
	"banyan/internal/job/starter"
)

const (
	// greeting begins the relay's line. The job's name follows.
	greeting = "banyan-relay "
	// maxNoise bounds what a login shell may say before it, in bytes.
	maxNoise = 64 << 10
	// dialLimit is how much longer than the relay the command may take.
	dialLimit = 15 * time.Second
	// together is how many hosts are asked at the same time.
	together = 16
	// lingerLimit bounds the wait for a command whose connection was closed, or that was killed.
	lingerLimit = time.Second
)

// Dial connects to a job on a host, which may still come there within wait. It returns the job's
// full name.
func Dial(ctx context.Context, r *console.Reach, host, job string, wait time.Duration) (net.Conn, string, error) {
	words := []string{"attach", "--raw", wait.String()}
	if job != "" {
		words = append(words, job)
	}
	argv := starter.How{Words: r.Words}.On(host, r.Self, words...)
	here, there, err := console.Pair()
	if err != nil {
		return nil, "", err
	}
	defer there.Close()
	errs := new(LastWords)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = there, there, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the console
	cmd.WaitDelay = lingerLimit
	if err := cmd.Start(); err != nil {
		here.Close()
		return nil, "", fmt.Errorf("%s: %w", host, err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	c := &conn{Conn: here, end: func() {
		select {
		case <-ended: // by itself, when it has passed on all
		case <-time.After(lingerLimit):
		}
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}}
	there.Close() // so that the command's end is the connection's
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	c.SetReadDeadline(time.Now().Add(wait + dialLimit))
	c.from = bufio.NewReader(here)
	for noise := 0; noise < maxNoise; {
		line, err := c.from.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
		if name, ok := strings.CutPrefix(string(line), greeting); ok {
			c.SetReadDeadline(time.Time{})
			return c, strings.TrimSpace(name), nil
		}
		noise += len(line)
	}
	c.Close()
	switch text := errs.String(); {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case text != "":
		return nil, "", fmt.Errorf("%s: %s", host, text)
	}
	return nil, "", fmt.Errorf("%s: %s has ended, and found no job", host, argv[0])
}

// Find looks for a job on all hosts, until one has it, or for wait.
func Find(ctx context.Context, r *console.Reach, job string, wait time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+dialLimit)
	defer cancel()
	found := make(chan net.Conn)
	slots := make(chan struct{}, together)
	var all sync.WaitGroup
	var mu sync.Mutex
	errs := []error{fmt.Errorf("no host of %s has it", job)}
	for _, host := range r.Hosts {
		all.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			conn, _, err := Dial(ctx, r, host, job, wait)
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
				return
			}
			select {
			case found <- conn:
			case <-ctx.Done():
				conn.Close()
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case conn := <-found:
		return conn, nil
	case <-ended:
		return nil, errors.Join(errs...)
	}
}

// Relay finds a job, which may still come within wait, and passes on what comes from in to its
// launcher, and to out what that says, until either has gone. find is called until it finds it, or
// in ends: nobody waits for it then.
func Relay(in io.Reader, out io.Writer, wait time.Duration, find func() (conn net.Conn, name string, err error)) error {
	const pause = 100 * time.Millisecond
	first, gone := make(chan []byte, 1), make(chan struct{})
	go func() {
		b := make([]byte, 4096)
		n, err := in.Read(b)
		if first <- b[:n]; err != nil {
			close(gone)
		}
	}()
	conn, name, err := find()
	for until := time.Now().Add(wait); err != nil; conn, name, err = find() {
		if time.Now().After(until) {
			return err
		}
		select {
		case <-gone:
			return err
		case <-time.After(pause):
		}
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(out, "%s%s\n", greeting, name); err != nil {
		return err
	}
	go func() {
		if _, err := conn.Write(<-first); err == nil {
			io.Copy(conn, in)
		}
		conn.Close() // the other side has gone
	}()
	io.Copy(out, conn)
	return nil
}

// conn is a connection through a command.
type conn struct {
	net.Conn
	from *bufio.Reader
	end  func()
	once sync.Once
}

func (c *conn) Read(b []byte) (int, error) { return c.from.Read(b) }

func (c *conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.end)
	return err
}
