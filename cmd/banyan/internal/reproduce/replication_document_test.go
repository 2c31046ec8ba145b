package reproduce

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/study/reproduce/replication"
)

// The document's block of results stands between these lines.
const (
	documentBegin = "<!-- report -->\n"
	documentEnd   = "<!-- end of report -->\n"
)

// TestDocument: docs/results/reproduction/replication.md shows what the command makes of the runs
// beside it, measured (replication.csv) and simulated (replication-predicted-ROW.csv), and its
// figures are beside it, too. With BANYAN_UPDATE they are written.
func TestDocument(t *testing.T) {
	const results = "../../../../docs/results/reproduction/"
	samples, err := readSamples(results + "replication.csv")
	if err != nil {
		t.Fatal(err)
	}
	p := replication.Parameters{Measured: runs(samples)}
	predicted, err := filepath.Glob(results + "replication-predicted*.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range predicted {
		_, row, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".csv"), "predicted-")
		more, err := readPredictions(strings.ToUpper(row) + "=" + path)
		if err != nil {
			t.Fatal(err)
		}
		p.Predicted = append(p.Predicted, more...)
	}
	r, err := replication.Run(p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(results + "replication.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), documentBegin)
	old, after, ends := strings.Cut(rest, documentEnd)
	if !ok || !ends {
		t.Fatalf("the document has no lines %q and %q", documentBegin, documentEnd)
	}
	update := os.Getenv("BANYAN_UPDATE") != ""
	if block := "\n" + string(r.Markdown("replication")) + "\n"; update {
		if err := os.WriteFile(results+"replication.md", []byte(before+documentBegin+block+documentEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if block != old {
		t.Error("the document shows something else: BANYAN_UPDATE=1 go test ./cmd/banyan/internal/reproduce -run Document")
	}
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			picture, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			path := results + "replication/" + f.Name + ".svg"
			if update {
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, picture, 0o666); err != nil {
					t.Fatal(err)
				}
			} else if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, picture) {
				t.Errorf("%s isn't what the command draws (%v)", path, err)
			}
		}
	}
}
