// Package browser drives a Chromium without a window, for tests of pages: it opens a page, asks it
// for values, presses keys and takes pictures. It speaks the browser's DevTools protocol over a
// pipe, so nothing listens and no other module is needed.
//
// # Limits
//
// One page a browser. What the page logs and what it loads isn't heard. The browser is that of
// Debian's package chromium-headless-shell or chromium; without its sandbox where the test runs as
// root, so only pages of the test's own may be opened.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// names are what the browser is called.
var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// callLimit bounds how long the browser may take for a command.
const callLimit = 30 * time.Second

// Browser is a browser with one page.
type Browser struct {
	cmd     *exec.Cmd
	profile string
	to      *os.File
	ended   chan struct{}

	mu      sync.Mutex
	number  int
	answers map[int]chan answer
	session string
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Start starts a browser whose window has so many pixels.
func Start(width, height int) (*Browser, error) {
	path := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, fmt.Errorf("there is no browser: install Debian's chromium-headless-shell (none of %s is found)", strings.Join(names, ", "))
	}
	profile, err := os.MkdirTemp("", "banyan-browser-")
	if err != nil {
		return nil, err
	}
	b := &Browser{profile: profile, answers: make(map[int]chan answer), ended: make(chan struct{})}
	if err := b.start(path, width, height); err != nil {
		os.RemoveAll(profile)
		return nil, err
	}
	if err := b.open(); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// start starts the process: it reads commands from descriptor 3, and answers on 4.
func (b *Browser) start(path string, width, height int) error {
	theirs, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	from, their, err := os.Pipe()
	if err != nil {
		to.Close()
		return err
	}
	defer their.Close()
	arguments := []string{"--headless", "--remote-debugging-pipe", "--user-data-dir=" + b.profile, "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--hide-scrollbars", fmt.Sprintf("--window-size=%d,%d", width, height)}
	if os.Geteuid() == 0 {
		arguments = append(arguments, "--no-sandbox")
	}
	b.cmd = exec.Command(path, append(arguments, "about:blank")...)
	b.cmd.ExtraFiles = []*os.File{theirs, their}
	if err := b.cmd.Start(); err != nil {
		to.Close()
		from.Close()
		return err
	}
	b.to = to
	go b.listen(from)
	return nil
}

// listen hands answers to those who wait for them.
func (b *Browser) listen(from *os.File) {
	defer close(b.ended)
	defer from.Close()
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID int
			answer
		}
		if json.Unmarshal(text[:len(text)-1], &m) != nil || m.ID == 0 {
			continue // an event
		}
		b.mu.Lock()
		c := b.answers[m.ID]
		delete(b.answers, m.ID)
		b.mu.Unlock()
		if c != nil {
			c <- m.answer
		}
	}
}

// call gives a command, and decodes its result.
func (b *Browser) call(method string, parameters, result any) error {
	c := make(chan answer, 1)
	b.mu.Lock()
	b.number++
	id := b.number
	b.answers[id] = c
	command := map[string]any{"id": id, "method": method, "params": parameters}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case a := <-c:
		switch {
		case a.Error != nil:
			return fmt.Errorf("%s: %s", method, a.Error.Message)
		case result != nil:
			return json.Unmarshal(a.Result, result)
		}
		return nil
	case <-b.ended:
		return errors.New("the browser has ended")
	case <-time.After(callLimit):
		return fmt.Errorf("%s: the browser takes longer than %v", method, callLimit)
	}
}

// open makes the page.
func (b *Browser) open() error {
	var target struct{ TargetID string }
	if err := b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	if err := b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return err
	}
	b.session = attached.SessionID
	return b.call("Page.enable", map[string]any{}, nil)
}

// Go opens an address.
func (b *Browser) Go(url string) error {
	var r struct{ ErrorText string }
	if err := b.call("Page.navigate", map[string]any{"url": url}, &r); err != nil || r.ErrorText == "" {
		return err
	}
	return fmt.Errorf("%s: %s", url, r.ErrorText)
}

// Ask gives the value of an expression in the page. It waits for a promise.
func (b *Browser) Ask(expression string, value any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r); err != nil {
		return err
	}
	if e := r.ExceptionDetails; e != nil {
		return fmt.Errorf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if value == nil || len(r.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(r.Result.Value, value)
}

// Press presses a key, such as "ArrowRight" or "Tab".
func (b *Browser) Press(key string) error {
	code := map[string]int{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Enter": 13, "Home": 36, "End": 35}[key]
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		if err := b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Scheme has pages see a colour scheme, "light" or "dark".
func (b *Browser) Scheme(scheme string) error {
	return b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Picture writes what the window shows to a file, as PNG.
func (b *Browser) Picture(file string) error {
	var r struct{ Data string }
	if err := b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &r); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o666)
}

// Close ends the browser, and removes what it has written.
func (b *Browser) Close() error {
	b.session = ""
	b.call("Browser.close", map[string]any{}, nil)
	b.to.Close()
	select {
	case <-b.ended:
	case <-time.After(5 * time.Second):
		b.cmd.Process.Kill()
	}
	b.cmd.Wait() // its exit code tells nothing
	return os.RemoveAll(b.profile)
}
