package cluster_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/testing/cluster"
)

// succeeded is what the report of a job says that another launcher has ended.
type succeeded struct {
	ExitCode int      `json:"exit_code"`
	Outcome  string   `json:"outcome"`
	Warnings []string `json:"warnings"`
	Hosts    []struct {
		Name string   `json:"name"`
		Left *float64 `json:"left_s"`
		Lost *float64 `json:"lost_s"`
	} `json:"hosts"`
}

// What is done to launchers, as words of faults. The first one is a process of the console, a later
// one of a host.
const (
	killLauncher = `pkill -KILL -f "^banyan launch-job"`
	killNext     = `on 0,1,2,3 sh -c "pkill -KILL -f ^banyan-lead; true"`
	cutNext      = `for k in 0 1 2 3; do if on $k pgrep -f ^banyan-lead >/dev/null; then power $k; break; fi; done`
)

// The launcher is killed, or more than that happens to it. An agent leads, and the job ends there
// as it would have ended, with its output byte for byte and its report; banyan jobs shows it on
// that host, and attach ends with its code.
func TestJobOutlivesItsLauncher(t *testing.T) {
	c := beside(t)
	for _, f := range []struct {
		name  string
		words []string // each once the launcher before is lost and the next one leads
		short bool
	}{
		{"killed", []string{killLauncher}, true},
		// The power of its machine is cut: its processes are gone, and no connection says so.
		{"its machine lost", []string{"drop 0,1,2,3 c; " + killLauncher}, false},
		{"two killed", []string{killLauncher, killNext}, false},
		{"killed, and the machine of the next lost", []string{killLauncher, cutNext}, false},
		// Two of five voters are lost by then, and no third may be before the electorate is one of
		// three. Nothing that a user sees says when it is: a verdict takes a lease and its margin,
		// 6 s, and is written soon after. That the agent of a killed launcher has ended is told
		// much earlier, by its guard.
		{"three killed", []string{killLauncher, killNext, "sleep 10; " + killNext}, false},
		{"killed together with a host", []string{"power 1 & " + killLauncher + "; wait"}, true},
		// Both fall silent at once. All three that are left of five voters must agree then.
		{"its machine lost together with a host", []string{"drop 0,1,2,3 c; power 1 & " + killLauncher + "; wait"}, false},
		{"its machine lost together with the host of the next", []string{"drop 0,1,2,3 c; power 0 & " + killLauncher + "; wait"}, false},
		// Host 0 would have been the next to lead.
		{"killed together with the host of the next", []string{"power 0 & " + killLauncher + "; wait"}, false},
	} {
		t.Run(f.name, func(t *testing.T) {
			if testing.Short() && !f.short {
				t.Skip("long")
			}
			outlive(t, c, f.words)
		})
	}
}

// The launcher's machine is one of four that vote, and is lost together with another one: the two
// that are left are no majority. All processes end, and each host says why: in the file of the
// job's messages, and to those who attach there. The machines are lost when the job has computed
// for a while, and at once: then the voters may not have granted their first leases yet.
func TestNoMajoritySaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := beside(t)
	for _, after := range []string{computes, ""} {
		t.Run("after "+after, func(t *testing.T) { noMajority(t, c, after) })
	}
}

func noMajority(t *testing.T, c *cluster.Cluster, after string) {
	messages := c.File(t, "successor.err")
	slowly(t, c)
	d := startOnHost(t, c, []string{"--host", "h0:2,h1:2,h2:2,h3:2", "--replicas", "2", "--error", messages}, heat, after)
	c.Fault(t, "power 0,1")
	processesEnd(t, c)
	for _, h := range []string{"h2", "h3"} {
		until(t, h+" says why", func() bool {
			text, err := os.ReadFile(messages)
			return err == nil && strings.Contains(string(text), "banyan: "+h+" couldn't reach most of the machines that vote")
		})
		out, err := c.Script(t.Context(), "on", h[1:], "bin/banyan", "attach").CombinedOutput()
		if err == nil || !strings.Contains(string(out), h+" couldn't reach most of the machines that vote") {
			t.Errorf("attach on %s: %v\n%s", h, err, out)
		}
	}
	if text, err := os.ReadFile(d.path); err == nil && strings.Contains(string(text), "completed") {
		t.Errorf("the report says %s", text)
	}
}

// The launcher is killed while a console shows the job. The console finds the next launcher
// on a host, and shows every byte once.
func TestConsoleFindsTheNextLauncher(t *testing.T) {
	c := beside(t)
	want := undisturbed(t, c, heat)
	over := slices.Insert(slices.Clone(overHosts), 2, "--on-console-loss=continue")
	g := slowly(t, c)
	j := start(t, c, command(over, heat)...)
	j.await("step 1000", 1)
	j.fault(killLauncher)
	j.awaitTold("leads the job now", 1)
	g.open()
	if code := j.end(); code != 0 || j.printed() != want {
		t.Errorf("exit code %d; it printed\n%s\nand undisturbed\n%s", code, j.printed(), want)
	}
}

// detached is a job without a console, and where it writes.
type detached struct {
	t            *testing.T
	on           *cluster.Cluster
	name         string
	output, json string
}

// detach runs a job that outlives its launcher, on so many hosts.
func detach(t *testing.T, c *cluster.Cluster, hosts string, flags, program []string) *detached {
	t.Helper()
	return detachOn(t, c, []string{"--host", hosts}, flags, program)
}

// detachOn is detach, with what says which hosts.
func detachOn(t *testing.T, c *cluster.Cluster, hosts, flags, program []string) *detached {
	t.Helper()
	d := &detached{t: t, on: c, output: c.File(t, "successor.out"), json: c.File(t, "successor.json")}
	j := start(t, c, command([]string{"bin/banyan", "run"}, hosts, []string{"-n", "4", "--replicas", "2", "--detach", "--output", d.output, "--report", d.json}, flags, program)...)
	j.finish()
	d.name = strings.TrimSpace(j.printed())
	return d
}

func (d *detached) read() string {
	b, _ := os.ReadFile(d.output)
	return string(b)
}

// awaitLine waits until the job has printed something.
func (d *detached) awaitLine(text string) {
	d.t.Helper()
	until(d.t, "the job prints "+text, func() bool { return strings.Contains(d.read(), text) })
}

// lead waits until a host leads the job that isn't another one, and returns its number.
func (d *detached) lead(besides string) string {
	d.t.Helper()
	return lead(d.t, d.on, d.name, besides)
}

// lead waits until a host leads a job, by its name or program, and returns the host's number.
func lead(t *testing.T, c *cluster.Cluster, job, besides string) (host string) {
	t.Helper()
	until(t, "a host leads", func() bool {
		for _, h := range []string{"0", "1", "2", "3"} {
			out, _ := c.Script(t.Context(), "on", h, "bin/banyan", "jobs").Output()
			if h != besides && strings.Contains(string(out), job) {
				host = h
				return true
			}
		}
		return false
	})
	return host
}

// end waits for the report.
func (d *detached) end() (r succeeded) {
	d.t.Helper()
	defer func() {
		if r.Outcome == "" { // a job that is slow, one that hangs, and one that has ended differ
			out := d.read()
			d.t.Logf("it has printed %d lines, the last ones\n%s\nand this is left:\n%s", strings.Count(out, "\n"), out[max(0, len(out)-200):], d.on.Left(d.t))
		}
	}()
	until(d.t, "the report is written", func() bool {
		text, err := os.ReadFile(d.json)
		return err == nil && json.Unmarshal(text, &r) == nil && r.Outcome != ""
	})
	return r
}

// gone waits until nothing is left, when the last console has seen the end.
func (d *detached) gone(host string) {
	d.t.Helper()
	if out, err := d.on.Script(d.t.Context(), "on", host, "bin/banyan", "attach", d.name).CombinedOutput(); err != nil {
		d.t.Errorf("attach: %v\n%s", err, out)
	}
	left := "?"
	for deadline := time.Now().Add(40 * time.Second); left != "" && time.Now().Before(deadline); time.Sleep(time.Second) {
		d.on.Run(d.t, "bin/banyan", "jobs") // removes what a killed launcher has left
		left = d.on.Left(d.t)
	}
	if left != "" {
		d.t.Errorf("this is left:\n%s", left)
	}
	if _, err := os.Stat(d.output + ".banyan"); err == nil {
		d.t.Error("what belongs to the output's file is left")
	}
}

// outlive runs a job, does what the words say to its launchers, and sees that agents go on.
func outlive(t *testing.T, c *cluster.Cluster, words []string) {
	want := undisturbed(t, c, heat)
	g := slowly(t, c)
	d := detach(t, c, "h0:2,h1:2,h2:2,h3:2", nil, heat)
	d.awaitLine("step 1000")
	leads := ""
	for i, w := range words {
		if i > 0 {
			leads = d.lead(leads)
		}
		c.Fault(t, w)
	}
	leads = d.lead(leads)
	g.open()
	at := time.Now()
	r := d.end()
	t.Logf("the job has ended %v after the next launcher led", time.Since(at))
	if r.ExitCode != 0 || r.Outcome != "completed" || strings.Count(strings.Join(r.Warnings, "\n"), "another launcher has taken over") != len(words) {
		t.Errorf("the report says %+v", r)
	}
	if got := d.read(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	c.Fault(t, "open")
	d.gone(leads)
}

// At the next launcher a host is added, and another one drained, as at the first one.
func TestNextLauncherAddsAndDrains(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := beside(t)
	want := undisturbed(t, c, heat)
	g := slowly(t, c)
	d := detach(t, c, "h0:4,h1:4", []string{"--heal", "--heartbeat-timeout", "5s"}, heat)
	d.awaitLine("step 1000")
	c.Fault(t, killLauncher)
	leads := d.lead("")
	hosts := func(args ...string) string {
		t.Helper()
		out, err := c.Script(t.Context(), command([]string{"on", leads, "bin/banyan", "hosts"}, args)...).CombinedOutput()
		if err != nil {
			t.Fatalf("hosts %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if got := hosts("add", "stdbuf", "h2:4"); !strings.Contains(got, "added: h2\n") {
		t.Errorf("%q", got)
	}
	leaves := map[string]string{"0": "h1", "1": "h0"}[leads]
	if got := hosts("drain", "stdbuf", leaves); !strings.Contains(got, "left: "+leaves+"\n") {
		t.Errorf("%q", got)
	}
	if states := hosts("stdbuf", "--format", "csv"); !strings.Contains(states, leaves+",has left,") || !strings.Contains(states, "h2,runs,") {
		t.Errorf("%s", states)
	}
	g.open()
	r := d.end()
	if r.ExitCode != 0 || r.Outcome != "completed" {
		t.Errorf("the report says %+v", r)
	}
	for _, h := range r.Hosts {
		if h.Name == leaves && (h.Left == nil || h.Lost != nil) {
			t.Errorf("%+v", h)
		}
	}
	if got := d.read(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	d.gone(leads)
}

// Agents come by themselves, and their launcher is killed. One that comes later finds the next
// launcher, though it is told of all hosts alone. Another host is drained, and its processes move
// there.
func TestAgentsFindTheNextLauncher(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := beside(t)
	want := undisturbed(t, c, heat)
	key := c.File(t, "successor.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0123456789abcdef", 4)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := func(number string) *running {
		return start(t, c, "ssh", "h"+number, "cd "+c.Root+" && exec bin/banyan agent --join console:7117,h0:7117,h1:7117,h2:7117 --number "+number+
			" --name h"+number+" --key-file "+key)
	}
	agents := []*running{agent("0"), agent("1")}
	g := slowly(t, c)
	d := detachOn(t, c, []string{"--listen", ":7117", "--agents", "2", "--key-file", key}, []string{"--heal", "--heartbeat-timeout", "5s"}, heat)
	d.awaitLine("step 1000")
	c.Fault(t, killLauncher)
	leads := d.lead("")
	agents = append(agents, agent("2"))
	hosts := func(args ...string) string {
		out, err := c.Script(t.Context(), command([]string{"on", leads, "bin/banyan", "hosts"}, args)...).CombinedOutput()
		if err != nil {
			t.Logf("hosts %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	until(t, "h2 has come", func() bool { return strings.Contains(hosts("stdbuf", "--format", "csv"), "h2,waits,") })
	leaves := map[string]string{"0": "h1", "1": "h0"}[leads]
	if got := hosts("drain", "stdbuf", leaves); !strings.Contains(got, "left: "+leaves+"\n") {
		t.Errorf("%q", got)
	}
	g.open()
	r := d.end()
	if r.ExitCode != 0 || r.Outcome != "completed" || len(r.Hosts) != 3 || r.Hosts[2].Name != "h2" || r.Hosts[2].Lost != nil {
		t.Errorf("the report says %+v", r)
	}
	if got := d.read(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	for _, a := range agents {
		a.end()
	}
	d.gone(leads)
}

// In an allocation of Slurm that is kept (sbatch --no-kill) the power of the host is cut on which
// the batch script and the launcher run. The job ends as it would have, and then the allocation.
func TestBatchJobOutlivesItsHost(t *testing.T) {
	c := beside(t)
	output := c.File(t, "batch.out")
	want := undisturbed(t, c, heat)
	if got := batch(t, c, output, "--output "+output, "power 0"); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
}

// In such an allocation the launcher alone is killed. The script's banyan run shows the job to its
// end under the next launcher, and the script goes on with the job's exit code.
func TestBatchScriptFindsTheNextLauncher(t *testing.T) {
	c := beside(t)
	log := c.File(t, "batch.log")
	want := undisturbed(t, c, heat) + "code 0\n"
	if got := batch(t, c, log, "", killLauncher); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	nothingLeft(t, c)
}

// batch runs a batch job that writes to a file, has a fault strike when it computes, and returns
// what it has written when the allocation has ended.
func batch(t *testing.T, c *cluster.Cluster, output, flags, words string) string {
	t.Helper()
	script, log := c.File(t, "batch.sh"), output
	if flags != "" { // the job has an output of its own
		log = c.File(t, "batch.log")
	}
	text := "#!/bin/bash\n#SBATCH --nodes=4 --ntasks-per-node=2 --overcommit --no-kill --open-mode=append --output=" + log + " --error=/dev/null\n" +
		"bin/banyan run -n 4 --replicas 2 --oversubscribe " + flags + " " + strings.Join(heat, " ") + "\necho code $?\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Heal(t) })
	g := slowly(t, c)
	c.Run(t, "sbatch", script)
	read := func() string {
		b, _ := os.ReadFile(output)
		return string(b)
	}
	until(t, "the job computes", func() bool { return strings.Contains(read(), "step 1000") })
	c.Fault(t, words)
	lead(t, c, "bin/heat", "")
	g.open()
	until(t, "the allocation ends", func() bool { return strings.TrimSpace(c.Run(t, "squeue", "-h")) == "" })
	return read()
}

// until waits for something.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: ", what)
		}
	}
}
