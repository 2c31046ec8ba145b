package browser

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/status"
	"banyan/internal/job/status/serve"
	"banyan/internal/proto"
)

var (
	really   = flag.Bool("browser", false, "drive a browser; needs bin/ of make build")
	pictures = flag.String("pictures", "", "keep the pictures in this directory")
)

// page is a browser, with the test's words for what it does.
type page struct {
	*testing.T
	*Browser
}

func open(t *testing.T) page {
	if !*really {
		t.Skip("make test-browser runs it")
	}
	b, err := Start(1280, 1100)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return page{t, b}
}

func (p page) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// text is the value of an expression.
func (p page) text(expression string) (s string) {
	p.Helper()
	p.must(p.Ask("String("+expression+")", &s))
	return s
}

// await waits until an expression is true.
func (p page) await(what, expression string) {
	p.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var is bool
		if p.must(p.Ask("(() => { try { return !!("+expression+") } catch { return false } })()", &is)); is {
			return
		}
		if time.Now().After(deadline) {
			p.Picture(filepath.Join(os.TempDir(), "banyan-browser-failed.png"))
			p.Fatalf("%s: %s never comes true; the page says %q", what, expression, p.text("document.body.innerText.slice(0, 600)"))
		}
	}
}

func (p page) picture(name string) {
	p.Helper()
	if *pictures != "" {
		p.must(p.Picture(filepath.Join(*pictures, name+".png")))
	}
}

const states = `[...document.querySelectorAll('.cell')].map(c => c.dataset.state).join(' ')`

// A job with kills and heals is watched, scrubbed and filtered; its report shows the same.
func TestJob(t *testing.T) {
	p := open(t)
	report := filepath.Join(t.TempDir(), "run.html")
	root := "../../.."
	cmd := exec.Command(absolute(t, root+"/bin/banyan"), "run", "-n", "4", "--replicas", "2", "--heal", "--status", ":0", "--status-control",
		"--on-console-loss=continue", "--report", report,
		"--fault", "kill rank=1 replica=0 at=2500ms; kill rank=2 replica=1 at=5s; stop rank=3 replica=0 at=7s",
		"cg", "-solves", "80", "-every", "100", "bcsstk16.mtx.gz")
	cmd.Dir = t.TempDir() // where the trace goes
	cmd.Env = append(os.Environ(), "PATH="+absolute(t, root+"/bin")+":"+os.Getenv("PATH"))
	p.must(os.Symlink(absolute(t, root+"/examples/cg/data/bcsstk16.mtx.gz"), filepath.Join(cmd.Dir, "bcsstk16.mtx.gz")))
	messages, err := cmd.StderrPipe()
	p.must(err)
	p.must(cmd.Start())
	url := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(messages)
		for lines.Scan() {
			if m := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); m != "" {
				url <- m
			}
		}
		if err := lines.Err(); err != nil {
			t.Error(err)
		}
		cmd.Wait() // it is killed
	}()
	t.Cleanup(func() { cmd.Process.Kill() })
	select {
	case at := <-url:
		p.must(p.Go(at))
	case <-time.After(20 * time.Second):
		t.Fatal("banyan run prints no address")
	}
	p.await("the beginning", states+" === 'live live live live live live live live'")
	p.must(p.Ask(`window.seen = {}; new MutationObserver(() => document.querySelectorAll('.cell').forEach(c => seen[c.dataset.process + ' ' + c.dataset.state] = 1)).observe(document.getElementById('grid'), {subtree: true, attributes: true, childList: true}); 0`, nil))
	p.await("a death", `document.querySelector('tr[data-kind=death]')`)
	p.await("the first heal", `document.querySelector('tr[data-kind=healed]')`)
	p.must(cmd.Process.Kill()) // the console: the job and its page go on
	p.await("a heal", `document.querySelectorAll('tr[data-kind=healed]').length >= 2`)
	p.await("progress", `document.getElementById('progress').value > 0 && document.getElementById('progress').max === 80`)
	p.await("the time left", `[...document.querySelectorAll('#cards dt')].some(x => x.textContent === 'time left')`)
	p.await("rates", `/[1-9]/.test(document.getElementById('c-messages').textContent)`)
	p.picture("page-light")
	if seen := p.text("Object.keys(seen).join()"); !strings.Contains(seen, "1 dead") && !strings.Contains(seen, "1 healing") {
		t.Errorf("process 1 was never shown as dead or healing: %s", seen)
	}
	p.must(p.Ask(`window.state0 = +document.getElementById('scrub').max; 0`, nil))
	// A scrub: just after the first death its cell isn't live; now it is.
	p.must(p.Ask(`[...document.querySelectorAll('tr[data-kind=death] button')].pop().click()`, nil))
	p.await("the time of the death", `['dead', 'healing'].includes(document.querySelector('[data-process="1"]').dataset.state)`)
	p.await("the slider", `+document.getElementById('scrub').value < state0 - 0.1`)
	p.await("what came later is faint", `document.querySelector('tr.later[data-kind=healed]')`)
	p.must(p.Scheme("dark"))
	p.picture("scrubbed-dark")
	p.must(p.Scheme("light"))
	p.must(p.Ask(`document.getElementById('live').click()`, nil))
	p.await("now", `document.querySelector('[data-process="1"]').dataset.state === 'live'`)
	// A filter.
	p.must(p.Ask(`(f => { f.value = 'rank 1'; f.dispatchEvent(new Event('input')); })(document.getElementById('filter'))`, nil))
	p.await("a filter", `document.querySelectorAll('.cell:not(.faint)').length === 2`)
	p.must(p.Ask(`(f => { f.value = ''; f.dispatchEvent(new Event('input')); })(document.getElementById('filter'))`, nil))
	// Keys.
	p.must(p.Ask(`document.querySelector('.cell[tabindex="0"]').focus()`, nil))
	p.must(p.Press("End"))
	p.await("a key", `document.activeElement.dataset.process === '7' && document.getElementById('detail').textContent.includes('rank 3 replica 1')`)
	p.must(p.Press("ArrowLeft"))
	p.await("another key", `document.activeElement.dataset.process === '3'`)
	if label := p.text(`document.activeElement.getAttribute('aria-label')`); !strings.HasPrefix(label, "rank 3 replica 0, ") {
		t.Errorf("a screen reader says %q", label)
	}
	p.readable()
	p.buttons()
	p.await("the end", `document.getElementById('how').textContent.startsWith('over')`)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) { // the launcher writes it
		if text, err := os.ReadFile(report); err == nil && strings.HasSuffix(string(text), "</html>\n") {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("there is no report:", err)
		}
	}
	was := p.text(states)
	p.must(p.Go("file://" + report))
	p.await("the report", `document.querySelectorAll('.cell').length === 8`)
	p.await("the same end", states+" === '"+was+"'")
	p.must(p.Ask(`[...document.querySelectorAll('tr[data-kind=death] button')].pop().click()`, nil))
	p.await("the death, in the report", `['dead', 'healing'].includes(document.querySelector('[data-process="1"]').dataset.state)`)
}

// buttons presses those that change the job, and looks for what comes of it.
func (p page) buttons() {
	p.Helper()
	p.must(p.Ask(`window.confirm = () => true; 0`, nil))
	p.must(p.Ask(`document.querySelector('[data-process="4"]').click()`, nil)) // rank 0 replica 1
	p.await("the button", `document.querySelector('#detail [data-action=kill]').textContent === 'Kill rank 0 replica 1'`)
	p.must(p.Ask(`document.querySelector('#detail [data-action=kill]').click()`, nil))
	p.await("what was asked for", `document.getElementById('said').textContent.includes('is killed')`)
	p.await("its death", `[...document.querySelectorAll('tr[data-kind=death]')].some(r => r.textContent.includes('rank 0 replica 1'))`)
	p.must(p.Ask(`document.getElementById('trace').click()`, nil))
	p.await("that a trace is taken", `document.getElementById('said').textContent.includes('a trace of one second')`)
	p.await("the trace", `document.querySelector('tr[data-kind=trace] a')`)
	var events int
	p.must(p.Ask(`fetch(document.querySelector('tr[data-kind=trace] a').href).then(r => r.json()).then(t => t.traceEvents.filter(e => e.ph === 's').length)`, &events))
	if events < 10 {
		p.Errorf("the trace has %d messages", events)
	}
}

// spoken are what a screen reader says of a page: the role and the name of each thing that can be
// operated or has a meaning of its own.
var spoken = map[string]bool{
	"button": true, "link": true, "slider": true, "searchbox": true, "image": true, "img": true, "progressbar": true, "progressIndicator": true,
	"ProgressIndicator": true, "heading": true, "table": true, "region": true, "group": true, "alert": false, "status": false,
}

// readable looks whether a screen reader has a name for all that it comes to, and whether the
// keyboard gets everywhere.
func (p page) readable() {
	p.Helper()
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	p.must(p.call("Accessibility.getFullAXTree", map[string]any{}, &tree))
	seen := make(map[string]int)
	for _, n := range tree.Nodes {
		role, _ := n.Role.Value.(string)
		name, _ := n.Name.Value.(string)
		if n.Ignored || !spoken[role] {
			continue
		}
		if seen[role]++; strings.TrimSpace(name) == "" && role != "group" && role != "table" {
			p.Errorf("a screen reader says nothing but %q of something", role)
		}
	}
	if seen["button"] < 8 || seen["slider"] != 1 || seen["searchbox"] != 1 || seen["heading"] < 6 {
		p.Errorf("a screen reader finds %v", seen)
	}
	// From the beginning by Tab: the link over the top, the filter, one process, the slider.
	p.must(p.Ask(`document.activeElement.blur(); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex'); 0`, nil))
	reached := ""
	for range 12 {
		p.must(p.Press("Tab"))
		reached += " " + p.text(`(a => a.id || a.className.split(' ')[0] || a.tagName)(document.activeElement)`)
	}
	for _, want := range []string{" skip", " filter", " cell", " trace", " live", " scrub"} {
		if !strings.Contains(reached, want) {
			p.Errorf("Tab comes to%s, not to%s", reached, want)
		}
	}
	if n := strings.Count(reached, " cell"); n != 1 {
		p.Errorf("Tab stops at %d processes: arrow keys move between them", n)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// simulated is a hub whose job has so many processes on hosts of 64 in racks of four.
func simulated(n int) (*serve.Hub, *status.Observation) {
	h := serve.NewHub("simulated")
	h.Begin(status.Job{Command: []string{"./simulated"}, Ranks: n / 2, Replicas: 2})
	o := &status.Observation{}
	for i := range n / 64 {
		o.Hosts = append(o.Hosts, status.Host{Name: fmt.Sprint("h", i), Rack: fmt.Sprint("r", i/4), State: status.HostRuns, Cores: 64, Processes: 64})
	}
	for i := range n {
		o.Slots = append(o.Slots, status.Slot{Rank: i % (n / 2), Replica: i / (n / 2), Host: i / 64, State: status.Live})
	}
	h.Observe(o)
	return h, o
}

// Many processes are drawn while they change. How many pictures a second is only told: the machine
// may be busy.
func TestMany(t *testing.T) {
	for _, n := range []int{1024, 4096} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { many(t, n) })
	}
}

func many(t *testing.T, n int) {
	p := open(t)
	h, o := simulated(n)
	a, err := serve.ParseAddress("127.0.0.1:0")
	p.must(err)
	s, err := serve.Listen(h, a, "", nil)
	p.must(err)
	defer s.Close()
	p.must(p.Go(s.URL()))
	p.await("the grid", fmt.Sprintf(`document.querySelectorAll('canvas[role=img]').length === %d`, n/64))
	stop := make(chan struct{})
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		for turn := 0; ; turn++ {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
			next := *o
			next.At, next.Slots = proto.Time(turn+1)*1e7, append([]status.Slot{}, o.Slots...)
			for k := range 8 {
				next.Slots[(turn*37+k*101)%n].State = []string{status.Dead, status.Healing, status.Live}[turn%3]
			}
			h.Observe(&next)
		}
	}()
	var perSecond float64
	p.must(p.Ask(`new Promise(done => { const from = +document.body.dataset.frames, at = performance.now(); setTimeout(() => done((document.body.dataset.frames - from) / (performance.now() - at) * 1000), 3000); })`, &perSecond))
	t.Logf("%d processes, of which 8 change 100 times a second: %.0f pictures a second", n, perSecond)
	if perSecond < 1 {
		t.Error("the page stands still")
	}
	if n == 1024 {
		p.picture("many")
	}
	p.await("all of it is in the window's width", `document.documentElement.scrollWidth <= innerWidth`)
	close(stop)
	<-changed
	p.must(p.Ask(`document.querySelector('canvas[role=img]').focus()`, nil))
	p.must(p.Press("ArrowRight"))
	p.await("a key", `document.getElementById('detail').textContent.includes('rank 1 replica 0')`)
	if label := p.text(`document.querySelector('canvas[role=img]').getAttribute('aria-label')`); !strings.Contains(label, "host h0: ") || !strings.Contains(label, " live") {
		t.Errorf("a screen reader says %q", label)
	}
}

// A page whose server goes says so, and goes on with one that comes elsewhere.
func TestReconnect(t *testing.T) {
	p := open(t)
	h, _ := simulated(64)
	at := func(address string) *serve.Server {
		a, err := serve.ParseAddress(address)
		p.must(err)
		s, err := serve.Listen(h, a, "secret", nil)
		p.must(err)
		return s
	}
	first, second := at("127.0.0.1:0"), at("127.0.0.1:0")
	h.AddAddress(status.Place{Host: "a", URL: first.Address()})
	h.AddAddress(status.Place{Host: "b", URL: second.Address()})
	p.must(p.Go(first.URL()))
	p.await("the first", `document.getElementById('how').textContent === 'live'`)
	first.Close()
	p.await("the second", `document.getElementById('how').textContent.includes('`+second.Address()+`')`)
	second.Close()
	p.await("nobody", `document.getElementById('how').className === 'off'`)
	third := at(strings.TrimSuffix(strings.TrimPrefix(first.Address(), "http://"), "/"))
	defer third.Close()
	p.await("the first again", `document.getElementById('how').textContent === 'live'`)
}

// A page that is stuck shows the circle.
func TestCircle(t *testing.T) {
	p := open(t)
	report := filepath.Join(t.TempDir(), "stuck.html")
	f, err := os.Create(report)
	p.must(err)
	h, o := simulated(64)
	var all []status.Sample
	for i := range o.Slots {
		all = append(all, status.Sample{Process: i, Stamp: 1, Counters: status.Counters{Waits: "waits for a message from the next rank", WaitsFor: (i%32 + 1) % 32}})
	}
	h.Sample(5e9, all)
	p.must(h.WriteReport(f))
	p.must(f.Close())
	p.must(p.Go("file://" + report))
	p.await("the circle", `document.querySelectorAll('#circle circle').length === 24`)
	p.await("its words", `document.querySelector('#circle svg').getAttribute('aria-label').includes('rank 31 waits for rank 0')`)
	p.await("no time is missing", `!document.body.innerText.includes('NaN')`)
	p.await("the waits", `document.querySelectorAll('#waits tbody tr').length === 50`)
	p.must(p.Ask(`document.getElementById('waiting').scrollIntoView()`, nil))
	p.picture("circle")
}
