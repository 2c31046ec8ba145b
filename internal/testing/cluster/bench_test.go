package cluster_test

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rank of another host is stopped by its stopper, and the broadcast reaches the others.
func TestBroadcastBench(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	c := alone(t)
	out := c.Run(t, "bin/banyan", "bench", "broadcast", "--host", "h0,h1", "--dir", "bin", "-n", "4", "--bytes", "8",
		"--tree", "binomial", "--correction", "checked", "--dead", "0,25", "--rounds", "1", "--count", "3", "--limit", "5s", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	checked := 0
	for _, row := range rows[1:] {
		if row[0] == "banyan" && row[2] == "checked" {
			checked++
			if missed := row[len(row)-1]; missed != "0" {
				t.Errorf("a broadcast with checked correction missed live ranks: %v", row)
			}
		}
	}
	if checked != 2 {
		t.Errorf("want rows without and with a dead rank:\n%s", out)
	}
	nothingLeft(t, c)
}

// The phases of a start over real hosts: all are told, in their order.
func TestStartupBench(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	c := alone(t)
	out := c.Run(t, "bin/banyan", "bench", "startup", "--library", "banyan", "--host", "h0,h1,h2,h3", "--procs", "16", "--rounds", "3",
		"--dir", "bin", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v:\n%s", err, out)
	}
	before := 0.0
	for i, name := range rows[0] {
		switch name {
		case "connect_ms", "agents_ms", "forked_ms", "init_ms", "started_ms":
			at, err := strconv.ParseFloat(rows[1][i], 64)
			if err != nil || at <= before {
				t.Errorf("%s is %q, and the phase before ends after %v", name, rows[1][i], before)
			}
			before = at
		}
	}
	t.Logf("medians of three jobs:\n%s", out)
	nothingLeft(t, c)
}

// How long a program stands still when a host is lost, suddenly or with its agent, is measured.
// After a sudden loss that takes the heartbeat timeout at least, less the time since a heartbeat;
// how much longer is the machine's matter.
func TestFailoverBench(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	c := alone(t)
	const timeout = 1000 // ms
	out := c.Run(t, "bin/banyan", "bench", "failover", "--host", "h0:2,h1:2,h2:2,h3:2", "--dir", "bin", "--rounds", "1", "--format", "csv",
		"--loss", "agent", "--loss", "scripts/cluster.sh fault 'unplug 3'", "--restore", "scripts/cluster.sh fault 'plug 3'")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v:\n%s", err, out)
	}
	column := slices.Index(rows[0], "gap_ms")
	for _, row := range rows[1:] {
		gap, err := strconv.ParseFloat(row[column], 64)
		if err != nil || gap <= 0 || strings.Contains(row[0], "unplug") && gap < 0.8*timeout {
			t.Errorf("a gap of %q ms", row[column])
		}
	}
	t.Logf("on a machine with load:\n%s", out)
	nothingLeft(t, c)
}
