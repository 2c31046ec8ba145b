package logp

import (
	"bytes"
	"os"
	"strings"
	"testing"
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
		if _, err := ReadTable(strings.NewReader(text), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestColumnsInAnyOrder: and a distance for all where the table has none.
func TestColumnsInAnyOrder(t *testing.T) {
	text := "failed,start,correction,numbering,k,tree,o,L,procs,quiescence\n3 5,overlapped,optimized,inorder,3,lame,1,2,16,7\n"
	table, err := ReadTable(strings.NewReader(text), 4)
	if err != nil {
		t.Fatal(err)
	}
	r := &table.Rows[0]
	if r.Procs != 16 || r.Latency != 2 || r.Tree != Lame || r.K != 3 || r.Distance != 4 || len(r.Failed) != 2 || r.Expected["quiescence"] != "7" {
		t.Errorf("read %+v", r)
	}
	table.AddOutcomeColumns()
	var out bytes.Buffer
	if err := table.Write(&out, CSV); err != nil {
		t.Fatal(err)
	}
	if want := "failed,start,correction,numbering,k,tree,o,L,procs,quiescence,messages,unreached,coloring\n3 5,overlapped,optimized,inorder,3,lame,1,2,16,0,0,0,0\n"; out.String() != want {
		t.Errorf("wrote %q", out.String())
	}
	if table.Write(&out, "xml") == nil {
		t.Error("xml is no format")
	}
}

// FuzzReadTable: what is read can be written, and read again as the same.
func FuzzReadTable(f *testing.F) {
	seed, err := os.ReadFile(reference)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed[:2000])
	f.Add([]byte(header + "8,2,1,lame,3,inorder,optimized,overlapped,1 2 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadTable(bytes.NewReader(data), 1)
		if err != nil {
			return
		}
		table.Columns = AllColumns()
		var once, twice bytes.Buffer
		if err := table.Write(&once, CSV); err != nil {
			t.Fatal(err)
		}
		again, err := ReadTable(bytes.NewReader(once.Bytes()), 1)
		if err != nil {
			t.Fatalf("%v in %q", err, once.String())
		}
		if err := again.Write(&twice, CSV); err != nil {
			t.Fatal(err)
		}
		if once.String() != twice.String() {
			t.Errorf("wrote %q, then %q", once.String(), twice.String())
		}
	})
}
