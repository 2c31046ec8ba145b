package demo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The demo refuses to praise jobs that weren't what it says.
func TestJudge(t *testing.T) {
	job := func(stdout string, deaths int, heals ...string) *result {
		r := &result{stdout: []byte(stdout)}
		r.report.Deaths = make([]struct{}, deaths)
		for _, h := range heals {
			r.report.Heals = append(r.report.Heals, struct {
				Error string `json:"error"`
			}{h})
		}
		return r
	}
	for _, x := range []struct {
		name                  string
		twice, killed, healed *result
		want                  string // of the error, or none
	}{
		{"as it should be", job("a\nb\n", 0), job("a\nb\n", 2), job("a\nb\n", 2, "late", ""), ""},
		{"another answer", job("a\nb\n", 0), job("a\nc\n", 2), job("a\nb\n", 2, ""), "something else"},
		{"nothing printed", job("a\nb\n", 0), job("a\nb\n", 2), job("", 2, ""), "something else"},
		{"one was killed", job("a\nb\n", 0), job("a\nb\n", 1), job("a\nb\n", 2, ""), "2 processes were to be killed in the third job, and 1 were"},
		{"none was healed", job("a\nb\n", 0), job("a\nb\n", 2), job("a\nb\n", 2, "late"), "0 healed"},
	} {
		var out bytes.Buffer
		err := (&show{out: &out}).judge(job("a\nb\n", 0), x.twice, x.killed, x.healed)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v", x.name, err)
		}
		if praised := strings.Contains(out.String(), "the same 2 lines"); praised != (err == nil) {
			t.Errorf("%s: %v, and it says %q", x.name, err, &out)
		}
	}
}

func TestFind(t *testing.T) {
	for _, names := range [][]string{{"libexec/banyan/cg", "share/banyan/bcsstk16.mtx.gz"}, {"bin/cg", "examples/cg/data/bcsstk16.mtx.gz"}} {
		prefix := t.TempDir()
		for _, n := range names {
			if err := os.MkdirAll(filepath.Join(prefix, filepath.Dir(n)), 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := find(filepath.Join(prefix, "bin")); err == nil || !strings.Contains(err.Error(), "make install") {
				t.Errorf("before %s: %v", n, err)
			}
			if err := os.WriteFile(filepath.Join(prefix, n), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p, err := find(filepath.Join(prefix, "bin"))
		if err != nil || p[0] != filepath.Join(prefix, names[0]) || p[len(p)-1] != filepath.Join(prefix, names[1]) {
			t.Error(p, err)
		}
	}
}
