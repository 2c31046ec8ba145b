package cluster_test

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"
)

// A rank of another host is stopped by its stopper, and the broadcast reaches the others.
func TestBroadcastBench(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	out := shared.Run(t, "bin/banyan", "bench", "broadcast", "--host", "h0,h1", "--dir", "bin", "-n", "4", "--bytes", "8",
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
	nothingLeft(t)
}

// The phases of a start over real hosts: all are told, in their order.
func TestStartupBench(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	out := shared.Run(t, "bin/banyan", "bench", "startup", "--library", "banyan", "--host", "h0,h1,h2,h3", "--procs", "16", "--rounds", "3",
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
	nothingLeft(t)
}
