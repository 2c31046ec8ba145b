package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"

	"banyan/internal/job/agent/remote"
	"banyan/internal/job/console"
	"banyan/internal/job/doctor"
	"banyan/internal/job/hosts"
	"banyan/internal/job/reach"
	"banyan/internal/job/starter"
)

const (
	// askLimit bounds how long a host may take to answer all.
	askLimit = 30 * time.Second
	// samples is how often its clock is asked: the quickest answer counts.
	samples = 8
	// together is how many hosts are asked at the same time.
	together = 16
	// greeting begins the line with the facts: the login shell may have said something before.
	greeting = "banyan-doctor "
	// longest bounds that line, and what may stand before it.
	longest = 1 << 20
)

// answer is what a host says.
type answer struct {
	Facts doctor.Facts
	Back  string // why it can't connect to the machine that asks; empty: it can
}

// Answer answers another machine's questions: first the facts, then the time for each line that
// comes. back are addresses of that machine, of which one must be reached.
func Answer(in io.Reader, out io.Writer, back []string) error {
	text, err := json.Marshal(answer{Machine(), trouble(connect(back))})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s%s\n", greeting, text); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if _, err := fmt.Fprintln(out, time.Now().UnixNano()); err != nil {
			return err
		}
	}
	return nil
}

// connect finds the first of some addresses that answers.
func connect(addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	errs := make(chan error, len(addresses))
	for _, a := range addresses {
		go func() {
			c, err := net.DialTimeout("tcp", a, tryLimit)
			if err == nil {
				c.Close()
			}
			errs <- err
		}()
	}
	var all []error
	for range addresses {
		err := <-errs
		if err == nil {
			return nil
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// Ask asks all hosts, in the order of the list.
func Ask(ctx context.Context, r *console.Reach, list hosts.List) ([]doctor.Host, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	back := strings.Join(remote.Addresses(l.Addr().(*net.TCPAddr).Port), ",")
	all := make([]doctor.Host, len(list))
	slots := make(chan struct{}, together)
	var asking sync.WaitGroup
	for i, h := range list {
		asking.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			name := h.Name
			if h.User != "" {
				name = h.User + "@" + name
			}
			all[i] = doctor.Host{Name: h.Name, Slots: h.Slots}
			if err := ask(ctx, starter.How{Words: r.Words}.On(name, r.Self, "doctor", "--raw", "--back", back), &all[i]); err != nil {
				all[i].Trouble = err.Error()
			}
		})
	}
	asking.Wait()
	return all, nil
}

// ask asks a host by a command.
func ask(ctx context.Context, argv []string, h *doctor.Host) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var errs reach.LastWords
	cmd.Stderr, cmd.WaitDelay = &errs, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = converse(in, bufio.NewReader(out), h)
	in.Close()
	io.Copy(io.Discard, out)
	ended := cmd.Wait()
	switch said := errs.String(); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("timed out: nothing came for %v", askLimit)
	case said != "":
		return errors.New(said)
	case ended != nil:
		return ended
	}
	return err
}

// converse takes the facts of a host, and asks for its clock.
func converse(to io.Writer, from *bufio.Reader, h *doctor.Host) error {
	var a answer
	for read := 0; ; {
		line, err := from.ReadString('\n')
		if read += len(line); err != nil || read > longest {
			return errors.New("it said nothing that banyan doctor says")
		}
		if text, is := strings.CutPrefix(line, greeting); is {
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				return fmt.Errorf("what it said makes no sense: %w", err)
			}
			break
		}
	}
	h.Facts, h.Back = a.Facts, strings.ReplaceAll(a.Back, "\n", "; ")
	for i := range samples {
		began := time.Now()
		if _, err := fmt.Fprintln(to); err != nil {
			return err
		}
		line, err := from.ReadString('\n')
		if err != nil {
			return errors.New("it doesn't tell the time")
		}
		took := time.Since(began)
		// By this clock the other one was read half of that time ago, give or take as much.
		ahead := time.Duration(number(line) - began.Add(took/2).UnixNano())
		if within := (took / 2).Seconds(); i == 0 || within < h.Within {
			h.Ahead, h.Within = ahead.Seconds(), within
		}
	}
	return nil
}
