package logp

import (
	"bytes"
	"os"
	"testing"

	"banyan/internal/study/table"
)

const reference = "testdata/logp-broadcast.csv"

// TestReference runs the 464 broadcasts whose outcome is known from two other simulators. The
// file must be the same.
func TestReference(t *testing.T) {
	want, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := ReadTable(bytes.NewReader(want), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases.Rows) != 464 {
		t.Fatalf("%d rows, want 464", len(cases.Rows))
	}
	if err := cases.Run(new(Simulator), nil); err != nil {
		t.Fatal(err)
	}
	for i := range cases.Rows {
		r := &cases.Rows[i]
		if d := r.Difference(); d != "" {
			t.Errorf("line %d: %s", r.Line, d)
		}
	}
	var got bytes.Buffer
	if err := cases.Write(&got, table.CSV); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
		t.Error("what is written differs from what was read")
	}
}
