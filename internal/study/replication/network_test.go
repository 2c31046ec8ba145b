package replication

import (
	"bytes"
	"strings"
	"testing"
)

func TestNetworkFiles(t *testing.T) {
	for _, n := range Networks() {
		var file bytes.Buffer
		if _, err := n.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		got, err := ReadNetwork(&file)
		if err != nil || got != n {
			t.Errorf("%+v came back as %+v, %v", n, got, err)
		}
	}
	n, err := ReadNetwork(strings.NewReader(`{"latency": "2us", "overhead": "1us", "per_byte": 1}`))
	if err != nil || n.Costs.Acknowledge != 1000 || n.Costs.Latency != 2000 {
		t.Errorf("%+v, %v", n, err)
	}
	for file, want := range map[string]string{
		``:                                "want an object",
		`{"latency": 3}`:                  "want an object",
		`{"speed": "1us"}`:                `unknown field "speed"`,
		`{"latency": "soon"}`:             `latency: "soon": want a time`,
		`{"overhead": "1us"}`:             "latency: 0 ns: want 1ns",
		`{"latency":"1us","gap":"1h"}`:    "gap:",
		`{"latency":"1us","per_byte":-1}`: "per_byte:",
	} {
		if _, err := ReadNetwork(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
