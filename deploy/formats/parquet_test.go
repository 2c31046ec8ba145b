// Package formats has the libraries of other programs read what campaigns and jobs write for them:
// Parquet, and the metrics of a job.
package formats

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"banyan/internal/study/campaign"
	"banyan/internal/testing/parquetread"
)

const spec = `
runs: 3
procs: 40
tree: [binomial, kary:4, gossip:14]
correction: [none, checked, opportunistic:0:3]
failed: [0, 10%]
`

// TestAnotherLibrary compares what parquet-go reads with what parquetread does: the schema, all
// values, the statistics.
func TestAnotherLibrary(t *testing.T) {
	s, err := campaign.Parse(strings.NewReader(spec))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "results.parquet")
	if err := s.Run(context.Background(), campaign.Journal(path), 2, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteParquet(campaign.Journal(path), path, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := parquetread.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[campaign.Row](path)
	if err != nil || len(rows) != s.Total() || ours.Rows != s.Total() {
		t.Fatalf("%d and %d rows of %d: %v", len(rows), ours.Rows, s.Total(), err)
	}
	for i, r := range rows {
		for j, c := range ours.Columns {
			v := reflect.ValueOf(r).Field(j)
			if v.Kind() == reflect.Pointer {
				if v.IsNil() != (c.Values[i] == nil) {
					t.Fatalf("row %d: null or not: %s", i, c.Name)
				}
				if v.IsNil() {
					continue
				}
				v = v.Elem()
			}
			if got := fmt.Sprint(v.Interface()); got != *c.Values[i] {
				t.Fatalf("row %d: %s is %s and %s", i, c.Name, got, *c.Values[i])
			}
		}
	}

	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := parquet.OpenFile(file, int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var schema strings.Builder
	for _, c := range ours.Columns {
		repetition, rest, _ := strings.Cut(c.Type, " ")
		stored, logical, _ := strings.Cut(rest, " ")
		fmt.Fprintf(&schema, "\t%s %s %s %s;\n", repetition, stored, c.Name, logical)
	}
	if got, want := f.Schema().String(), "message Row {\n"+schema.String()+"}"; got != want {
		t.Errorf("the schema is\n%s\nand\n%s", got, want)
	}
	for j, chunk := range f.Metadata().RowGroups[0].Columns {
		x := chunk.MetaData.Statistics
		if c := ours.Columns[j]; int(x.NullCount) != c.Nulls[0] || (len(x.MinValue) == 0) != (c.Min[0] == "") {
			t.Errorf("%s: %+v", c.Name, x)
		}
	}
}
