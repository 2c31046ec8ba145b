package replication

import (
	"reflect"
	"strings"
	"testing"
)

// Samples are read as they were written.
func TestSamples(t *testing.T) {
	all := []Sample{
		{Part: PartPingPong, Name: "C", Bytes: 64, Ranks: 2, Replicas: 2, Setting: Each, Round: 3, Seconds: 1.5e-6},
		{Part: PartApplication, Name: `cg, "any" source`, Ranks: 4, Replicas: 3, Setting: Beside, Seconds: 4.25, CPU: 16.5},
		{Part: PartTraffic, Name: "ping-pong", Bytes: 8, Ranks: 2, Replicas: 2, Setting: Mirror, Messages: 17600, Acknowledgements: 12},
		{Part: PartInstructions, Name: Ahead, Bytes: 8, Ranks: 2, Replicas: 2, Setting: Parallel, Instructions: 3835},
		{Part: PartFailover, Name: "shm", Ranks: 2, Replicas: 2, Setting: Parallel, Round: 1, Seconds: .0018},
	}
	var text strings.Builder
	if err := WriteCSV(&text, all); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCSV(strings.NewReader(text.String()))
	if err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%v: %+v of\n%s", err, got, &text)
	}
}

func TestDamagedSamples(t *testing.T) {
	head := strings.Join(csvHead, ",") + "\n"
	for text, want := range map[string]string{
		"":                                      "is empty",
		"n,time\n":                              `heading "n,time": want part,name`,
		head + "ping,C,1,2,2,alone,0,1,0,0,0,0": `line 2: part: "ping"`,
		head + "pingpong,C,x,2,2,alone,0,1,0,0,0,0":         `line 2: bytes: "x"`,
		head + "pingpong,C,1,2,2,lonely,0,1,0,0,0,0":        `line 2: setting: "lonely": there are alone, side by side`,
		head + "pingpong,C,1,2,2,alone,-1,1,0,0,0,0":        `line 2: round: "-1"`,
		head + "pingpong,C,1,2,2,alone,0,NaN,0,0,0,0":       `line 2: seconds: "NaN": want seconds`,
		head + "pingpong,C,1,2,2,alone,0,0,0,0,0,0":         `line 2: seconds: want more than 0`,
		head + "traffic,C,1,2,2,alone,0,0,0,0,0,0":          `line 2: messages: want more than 0`,
		head + "instructions,ahead,1,2,2,alone,0,0,0,0,0,0": `line 2: instructions: want more than 0`,
		head + "pingpong,C,1,2,2":                           `line 2`,
	} {
		if _, err := ReadCSV(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
