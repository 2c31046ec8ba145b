package viewtime

import (
	"strings"
	"testing"
)

// lines are those of a CSV file.
func lines(text string) (all [][]string) {
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if text != "" {
			all = append(all, strings.Split(line, ","))
		}
	}
	return all
}

func TestParseMeasurements(t *testing.T) {
	for _, x := range []struct {
		text  string
		arity int
		want  []Measurement
	}{
		{"n,stabilise_us\n7,100\n9,200.5\n", 4, []Measurement{{7, 4, 100 * us}, {9, 4, 200.5 * us}}},
		{" n , arity,stabilise_us\n 7 , 8, 100\n", 0, []Measurement{{7, 8, 100 * us}}},
		{"fault,n,arity,stabilise_us\nnode,7,2,100\nroot,9,2,300\n", 4, []Measurement{{6, 2, 100 * us}}},
	} {
		got, err := ParseMeasurements(lines(x.text), x.arity)
		if err != nil || len(got) != len(x.want) {
			t.Errorf("%q: %v, %v", x.text, got, err)
			continue
		}
		for i := range got {
			if !near(got[i].Time, x.want[i].Time) || got[i].Nodes != x.want[i].Nodes || got[i].Arity != x.want[i].Arity {
				t.Errorf("%q: %v, want %v", x.text, got[i], x.want[i])
			}
		}
	}
	for text, says := range map[string]string{
		"":                                     "is empty: want a heading with n and stabilise_us",
		"n,time\n1,2\n":                        "want the columns n and stabilise_us",
		"n,stabilise_us\n7,1\n":                "no column arity",
		"n,arity,stabilise_us\nx,2,1\n":        `line 2: n: "x": want a number`,
		"n,arity,stabilise_us\n7,2,1\n7,y,1\n": `line 3: arity: "y": want a number`,
		"n,arity,stabilise_us\n7,2,-1\n":       `stabilise_us: "-1": want microseconds`,
		"n,arity,stabilise_us\n7,2\n":          "line 2: has",
	} {
		if got, err := ParseMeasurements(lines(text), 0); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v: want %s", text, got, err, says)
		}
	}
}

func TestParseLatencies(t *testing.T) {
	got, err := ParseLatencies(lines("children,nodes,run,latency_us,least_us,most_us\n1,2,0,16.5,1,2\n4,10,1,99,1,2\n"))
	if err != nil || len(got) != 2 || got[0].Children != 1 || got[1].Nodes != 10 || !near(got[0].Time, 16.5*us) || !near(got[1].Time, 99*us) {
		t.Errorf("%v, %v", got, err)
	}
	for text, says := range map[string]string{
		"":                                   "is empty",
		"n,latency_us\n1,2\n":                "want the columns children and nodes and latency_us",
		"children,nodes,latency_us\nx,2,1\n": "line 2: children",
		"children,nodes,latency_us\n1,y,1\n": "line 2: nodes",
		"children,nodes,latency_us\n1,2,z\n": `line 2: latency_us: "z": want microseconds`,
		"children,nodes,latency_us\n1\n":     "line 2: has",
	} {
		if got, err := ParseLatencies(lines(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v: want %s", text, got, err, says)
		}
	}
	if got, err := ParseLatencies(lines("children,nodes,latency_us\n")); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
