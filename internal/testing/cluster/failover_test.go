package cluster_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"banyan/internal/testing/cluster/verdict"
)

// failover is what a report says of a lost host.
type failover struct {
	Start time.Time `json:"start"`
	Hosts []struct {
		Name   string   `json:"name"`
		Lost   *float64 `json:"lost_s"`
		Reason string   `json:"reason"`
	} `json:"hosts"`
}

// When an agent is killed, the job knows long before the lease is over that its processes are dead.
// How long that takes is logged: on an idle machine some milliseconds. All hosts have one clock.
func TestAgentsDeathIsCertain(t *testing.T) {
	c := beside(t)
	path := c.File(t, "failover.json")
	want := undisturbed(t, c, heat)
	g := slowly(t, c)
	j := start(t, c, command(overHosts, []string{"--report", path}, heat)...)
	j.await("step 1000", 1)
	// The time is taken after the search for the process, which takes longer than what is measured.
	out, err := c.Script(t.Context(), "on", "1", "sh", "-c", "p=$(pgrep -x banyan); date +%s%N; kill -KILL $p").Output()
	if err != nil {
		t.Fatal(err)
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	j.awaitTold("host h1 is lost", 1)
	g.open()
	j.finish()
	if got := j.printed(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	var r failover
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Hosts) != size || r.Hosts[1].Lost == nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !strings.Contains(r.Hosts[1].Reason, "died with its processes") {
		t.Errorf("the host was lost because %s", r.Hosts[1].Reason)
	}
	lost := r.Start.Add(time.Duration(*r.Hosts[1].Lost * float64(time.Second)))
	t.Logf("certain after %v", lost.Sub(time.Unix(0, at)))
	nothingLeft(t, c)
}

// All processes share h0. The replacement of one goes to the spare host, and reaches them there.
func TestReplacementOnSpareHost(t *testing.T) {
	c := beside(t)
	want := undisturbed(t, c, cg)
	g := slowly(t, c)
	j := start(t, c, command([]string{"bin/banyan", "run", "--host", "h0:8,h1:8", "--spare-hosts", "1", "-n", "4", "--replicas", "2",
		"--allow-shared-host", "--heal", "--fault", "kill rank=1 replica=1 at=300ms"}, g.program(cg))...)
	j.awaitTold("replica 1 is back", 1)
	g.open()
	j.finish()
	if got := j.printed(); got != want || !strings.Contains(j.complained(), "replica 1 is back") {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	nothingLeft(t, c)
}

// A host dies that had a replica of each of four ranks. All are replaced at the same time, on two
// spare hosts.
func TestReplicasOfAHostAreHealedTogether(t *testing.T) {
	c := beside(t)
	path := c.File(t, "together.json")
	want := undisturbed(t, c, heat)
	g := slowly(t, c)
	j := start(t, c, command([]string{"bin/banyan", "run", "--host", "h0:4,h1:4,h2:2,h3:2", "--spare-hosts", "2", "-n", "4", "--replicas", "2",
		"--heal", "--report", path}, heat)...)
	j.await("step 1000", 1)
	j.fault("power 1")
	j.awaitTold("is back after", ranks)
	g.open()
	j.finish()
	if got := j.printed(); got != want {
		t.Errorf("it printed\n%s\nand undisturbed\n%s", got, want)
	}
	var r verdict.Report
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Heals) != ranks {
		t.Fatalf("%v: %s", err, text)
	}
	began, back, on := 0.0, math.Inf(1), map[string]int{}
	for _, h := range r.Heals {
		began, back = max(began, h.Began), min(back, h.Began+h.Took)
		on[h.Host]++
		if h.Error != "" {
			t.Errorf("%+v", h)
		}
	}
	if began >= back {
		t.Errorf("the last replacement was begun at %v s, when the first one was back at %v s: %+v", began, back, r.Heals)
	}
	if on["h2"] != 2 || on["h3"] != 2 {
		t.Errorf("they are on %v", on)
	}
	t.Logf("all are back %.0f ms after the first was begun", 1000*(lastBack(r.Heals)-r.Heals[0].Began))
	nothingLeft(t, c)
}

// lastBack is when the last replacement was a replica.
func lastBack(heals []verdict.Heal) (at float64) {
	for _, h := range heals {
		at = max(at, h.Began+h.Took)
	}
	return at
}
