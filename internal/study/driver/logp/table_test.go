package logp

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/fault"
	"banyan/internal/study/table"
)

const header = "procs,L,o,tree,k,numbering,correction,start,failed\n"

func TestReadTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "empty",
		"procs,L\n":                     `line 1: column "o" is missing`,
		"procs,procs\n":                 `line 1: column "procs" is there twice`,
		header[:len(header)-1] + ",x\n": `line 1: unknown column "x"`,
		header + "8,2,1,binomial,,interleaved,none,-\n":                                            "line 2",
		header + "8,2,1,binomial,,interleaved,none,-,\n8,2,1,binomial,,sideways,none,-,\n":         `line 3: numbering: unknown numbering "sideways"`,
		header + "8,2,1,binomial,2,interleaved,none,-,\n":                                          "line 2: k: 2: a binomial tree has none",
		header + "8,2,1,kary,,interleaved,none,-,\n":                                               "line 2: k: 0: a kary tree wants",
		header + "8,2,1,binomial,,interleaved,none,-,8\n":                                          "line 2: failed: 8: want 1 to 7",
		header + "8,2,1,binomial,,interleaved,optimized,overlapped,\n":                             "line 2: distance: correction distance 0",
		header + "99999999999999999999,2,1,binomial,,interleaved,none,-,\n":                        "line 2: procs: ",
		header + "99999999,2,1,binomial,,interleaved,none,-,\n":                                    "line 2: procs: 99999999: want 1 to",
		strings.TrimSpace(header) + ",messages\n8,2,1,binomial,,interleaved,none,-,,some\n":        "line 2: messages: ",
		strings.TrimSpace(header) + ",distance\n8,2,1,binomial,,interleaved,checked,overlapped,,1": "line 2: distance: 1: correction checked has none",
	} {
		if _, err := ReadTable(strings.NewReader(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestColumnsInAnyOrder: columns may come in any order; the flag's distance applies where the
// table has none.
func TestColumnsInAnyOrder(t *testing.T) {
	text := "failed,start,correction,numbering,k,tree,o,L,procs,quiescence\n3 5,overlapped,optimized,inorder,3,lame,1,2,16,7\n"
	cases, err := ReadTable(strings.NewReader(text), "4")
	if err != nil {
		t.Fatal(err)
	}
	r := &cases.Rows[0]
	if r.Procs != 16 || r.Latency != 2 || r.Tree != Lame || r.K != 3 || r.Distance != 4 || len(r.Failed) != 2 || r.Expected["quiescence"] != "7" {
		t.Errorf("read %+v", r)
	}
	cases.AddOutcomeColumns()
	var out bytes.Buffer
	if err := cases.Write(&out, table.CSV); err != nil {
		t.Fatal(err)
	}
	if want := "failed,start,correction,numbering,k,tree,o,L,procs,quiescence,messages,unreached,coloring\n3 5,overlapped,optimized,inorder,3,lame,1,2,16,0,0,0,0\n"; out.String() != want {
		t.Errorf("wrote %q", out.String())
	}
	if cases.Write(&out, "xml") == nil {
		t.Error("xml is no format")
	}
}

// TestTableRoundTrip: a case's row, and its JSON, contain all of the case.
func TestTableRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		drawModel(t, &c)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		cases := NewTable(Row{Case: c, Outcome: Outcome{Messages: 3, Crashed: 1}})
		var text bytes.Buffer
		if err := cases.Write(&text, table.CSV); err != nil {
			t.Fatal(err)
		}
		again, err := ReadTable(bytes.NewReader(text.Bytes()), "")
		if err != nil {
			t.Fatalf("%v in %s", err, &text)
		}
		got := again.Rows[0].Case
		if len(c.Failed) == 0 {
			c.Failed, got.Failed = nil, nil
		}
		if !reflect.DeepEqual(got, c) {
			t.Fatalf("read %+v, was %+v", got, c)
		}
		text.Reset()
		if err := cases.Write(&text, table.JSON); err != nil {
			t.Fatal(err)
		}
		var objects []map[string]any
		if err := json.Unmarshal(text.Bytes(), &objects); err != nil || len(objects) != 1 {
			t.Fatalf("%v in %s", err, &text)
		}
		for _, column := range cases.Columns {
			if _, there := objects[0][column]; !there && cases.Rows[0].Field(column) != "" {
				t.Fatalf("JSON lacks %s: %s", column, &text)
			}
		}
	})
}

// drawModel gives a case crashes and what is beyond plain LogP.
func drawModel(t *rapid.T, c *Case) {
	for range rapid.IntRange(0, 2).Draw(t, "crashes") {
		if c.Procs > 1 {
			c.Crashes = append(c.Crashes, Crash{
				rapid.IntRange(1, c.Procs-1).Draw(t, "crashes"),
				fault.Trigger{Kind: rapid.SampledFrom([]fault.TriggerKind{fault.AtStep, fault.AtSend}).Draw(t, "by"), N: int64(rapid.IntRange(1, 40).Draw(t, "at"))},
			})
		}
	}
	if rapid.Bool().Draw(t, "gapped") {
		c.Model.Gap = c.Overhead + rapid.IntRange(0, 3).Draw(t, "gap")
	}
	if rapid.Bool().Draw(t, "noisy") {
		c.Model.Noise, c.Model.NoiseSeed = rapid.IntRange(1, 9).Draw(t, "noise"), rapid.Uint64().Draw(t, "noise seed")
	}
	if rapid.Bool().Draw(t, "nodes") {
		c.Model.Nodes = Nodes{
			Size:      rapid.IntRange(1, c.Procs).Draw(t, "node size"),
			Placement: rapid.SampledFrom([]Placement{Consecutive, Shuffled, Striped}).Draw(t, "placement"),
			Seed:      rapid.Uint64().Draw(t, "node seed"),
		}
		c.Model.LatencyWithin = rapid.IntRange(0, 9).Draw(t, "within")
	}
}

// richRows together have a value in every column.
var richRows = []string{
	"8,2,1,gossip,,-,failure-proof,overlapped,1 2,,,9,,7,kill rank=3 at=send:2; kill rank=4 at=step:9,2,3,striped,,1,4,5,9,0,1,2,3,1\n",
	"8,2,1,gossip,,-,opportunistic,synchronized,,0:4,,,5,7,,,,,,,,,,,,,,\n",
	"8,2,1,binomial,,interleaved,delayed,synchronized,,,6,,,,,,2,shuffled,18446744073709551615,0,,,,,,,,\n",
}

func TestRichRows(t *testing.T) {
	all := strings.Join(AllColumns(), ",") + "\n"
	for _, row := range richRows {
		if _, err := ReadTable(strings.NewReader(all+row), ""); err != nil {
			t.Errorf("%v in %s", err, row)
		}
	}
}

// FuzzReadTable: a table that was read can be written, and read again as the same.
func FuzzReadTable(f *testing.F) {
	seed, err := os.ReadFile(reference)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed[:2000])
	f.Add([]byte(header + "8,2,1,lame,3,inorder,optimized,overlapped,1 2 2\n"))
	for _, row := range richRows {
		f.Add([]byte(strings.Join(AllColumns(), ",") + "\n" + row))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cases, err := ReadTable(bytes.NewReader(data), "1")
		if err != nil {
			return
		}
		cases.Columns = AllColumns()
		var once, twice bytes.Buffer
		if err := cases.Write(&once, table.CSV); err != nil {
			t.Fatal(err)
		}
		again, err := ReadTable(bytes.NewReader(once.Bytes()), "1")
		if err != nil {
			t.Fatalf("%v in %q", err, once.String())
		}
		if err := again.Write(&twice, table.CSV); err != nil {
			t.Fatal(err)
		}
		if once.String() != twice.String() {
			t.Errorf("wrote %q, then %q", once.String(), twice.String())
		}
	})
}
