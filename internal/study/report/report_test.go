package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"html"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// full is a report with one item of every kind.
func full() *Report {
	points := []Point{{1, 2, 1, 4}, {10, 3, 3, 3}, {100, 50, 20, 80}}
	return &Report{
		Title: "T <b>&", Source: "S", Command: "banyan reproduce x", About: []string{"One.", "Two."},
		Settings: []Setting{{"runs", "3"}},
		Claims: []Claim{
			{Where: "1", What: "a", Paper: "1", Ours: "1", Difference: "0"},
			{Where: "2", What: "b", Paper: "1", Ours: "2", Verdict: Differs, Explanation: "<script>alert(1)</script>"},
			{Where: "3", What: "c", Verdict: Open, Explanation: "too few"},
		},
		Sections: []Section{{
			Title: "Figures", Text: []string{"Text."},
			Figures: []*Figure{
				{Name: "log", Title: "Log", X: Axis{Label: "x (%)", Log: true}, Y: Axis{Label: "y", Log: true}, Series: []Series{
					{Name: "whiskers", Spread: Whiskers, Points: points}, {Name: "others", Spread: Whiskers, Points: points},
					{Name: "band", Style: Line, Spread: Band, Dashed: true, Points: points}, {Name: "none"},
				}},
				{Name: "one-point", X: Axis{Label: "x", Log: true}, Y: Axis{Label: "y", From: -5, To: 5}, Series: []Series{
					{Style: Points, Look: 3, Points: []Point{{X: 0.5, Y: -3}}},
				}, Data: &Table{Columns: []string{"n"}, Rows: [][]string{{"1"}}}},
			},
			Tables: []*Table{
				{Name: "shown", Title: "Shown", Caption: "c", Columns: []string{"a", "b"}, Rows: [][]string{{"1", "x,y"}}},
				{Name: "hidden", Title: "Hidden", Columns: []string{"secret"}, Rows: [][]string{{"s3cr3t"}}, Hidden: true},
			},
		}},
	}
}

func write(t *testing.T, r *Report) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestFiles: all files exist, are complete, and are the same when written again.
func TestFiles(t *testing.T) {
	files, again := write(t, full()), write(t, full())
	for _, name := range []string{
		"index.html", "report.md", "claims.csv", "shown.csv", "hidden.csv",
		"log.svg", "log.png", "log.csv", "one-point.svg", "one-point.png", "one-point.csv",
	} {
		content, ok := files[name]
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		if !bytes.Equal(content, again[name]) {
			t.Errorf("%s comes out differently", name)
		}
		switch filepath.Ext(name) {
		case ".png":
			image, err := png.Decode(bytes.NewReader(content))
			if err != nil || image.Bounds().Dx() < 1000 {
				t.Errorf("%s: %v", name, err)
			}
		case ".svg":
			d := xml.NewDecoder(bytes.NewReader(content))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if !bytes.Contains(content, []byte("sans-serif")) {
				t.Errorf("%s: no type to fall back on", name)
			}
		}
	}
	if len(files) != 11 {
		t.Errorf("%d files", len(files))
	}
	if got, want := string(files["shown.csv"]), "a,b\n1,\"x,y\"\n"; got != want {
		t.Errorf("shown.csv is %q", got)
	}
	if got, want := string(files["one-point.csv"]), "n\n1\n"; got != want {
		t.Errorf("one-point.csv is %q", got)
	}
	if got := string(files["log.csv"]); !strings.HasPrefix(got, "series,x,y,low,high\nwhiskers,1,2,1,4\n") || strings.Count(got, "\n") != 10 {
		t.Errorf("log.csv is %q", got)
	}
}

// TestPage: claims come first, no text is markup, and the page loads nothing from elsewhere.
func TestPage(t *testing.T) {
	page := html.UnescapeString(string(write(t, full())["index.html"]))
	for _, want := range []string{
		"1 agree, 1 differ, 1 open", `class="verdict differs"`,
		`<a href="hidden.csv">`, `<caption>Shown: c`, "prefers-color-scheme: dark",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s on the page", want)
		}
	}
	if raw := string(write(t, full())["index.html"]); strings.Contains(raw, "<b>") || strings.Contains(raw, "<script") {
		t.Error("text became markup")
	}
	if strings.Contains(page, "s3cr3t") {
		t.Error("a hidden table is on the page")
	}
	if strings.Index(page, `id="claims"`) > strings.Index(page, "<p>One.</p>") {
		t.Error("the claims don't come first")
	}
	if n := strings.Count(page, "data:image/svg+xml;base64,"); n != 2 {
		t.Errorf("%d pictures, want 2", n)
	}
	for _, m := range regexp.MustCompile(`(?:src|href|url)(?:="|\()([^")]*)`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "data:") && !regexp.MustCompile(`^[a-z-]+\.(svg|png|csv)$`).MatchString(m[1]) {
			t.Errorf("the page refers to %s", m[1])
		}
	}
}

// TestRefused: an item that can't be drawn or isn't explained is named, and nothing is written.
func TestRefused(t *testing.T) {
	for want, spoil := range map[string]func(*Report){
		`claim "b": differs, but nothing`: func(r *Report) { r.Claims[1].Explanation = "" },
		`claim "c": open, but nothing`:    func(r *Report) { r.Claims[2].Explanation = "" },
		"figure log: want a label":        func(r *Report) { r.Sections[0].Figures[0].Y.Label = "" },
		"figure log: no points":           func(r *Report) { r.Sections[0].Figures[0].Series = nil },
		`figure log: series 0, "a": x is 0`: func(r *Report) {
			r.Sections[0].Figures[0].Series = []Series{{Name: "a", Points: []Point{{X: 0, Y: 1}}}}
		},
		`figure log: series 0, "a": y is NaN`: func(r *Report) {
			r.Sections[0].Figures[0].Series = []Series{{Name: "a", Points: []Point{{X: 1, Y: math.NaN()}}}}
		},
		`figure log: series 0, "whiskers": 2 isn't`: func(r *Report) { r.Sections[0].Figures[0].Series[0].Points[0].Low = 3 },
		"look 9: want 0 to 7":                       func(r *Report) { r.Sections[0].Figures[0].Series[0].Look = 9 },
		"figure ../x: want a name":                  func(r *Report) { r.Sections[0].Figures[0].Name = "../x" },
		"figure one-point: there are two":           func(r *Report) { r.Sections[0].Figures[0].Name = "one-point" },
		"table claims: there are two":               func(r *Report) { r.Sections[0].Tables[0].Name = "claims" },
		"table shown: row 1 has 1 fields, want 2":   func(r *Report) { r.Sections[0].Tables[0].Rows[0] = []string{"1"} },
	} {
		r := full()
		spoil(r)
		dir := filepath.Join(t.TempDir(), "out")
		if err := r.Write(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: there is a directory", want)
		}
	}
}

// TestPrepare: a directory that can't be written to is detected at once.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	if err := Prepare(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(file); err == nil {
		t.Error("a file passes for a directory")
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "a", "b")); len(entries) != 0 {
		t.Errorf("%v is left behind", entries)
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		paper, ours float64
		want        string
	}{{8, 8, "0"}, {8, 10, "+2 (+25 %)"}, {0, 3, "+3"}, {100, 99.5, "−0.5 (−0.5 %)"}, {2600, 4000, "+1,400 (+54 %)"}, {2600, 0, "−2,600 (−100 %)"}, {-4, -2, "+2 (+50 %)"}} {
		if got := Difference(c.paper, c.ours); got != c.want {
			t.Errorf("%g and %g: %q, want %q", c.paper, c.ours, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	if got := Number(math.Copysign(0, -1)); got != "0" {
		t.Errorf("minus nothing: %q", got)
	}
	for v, want := range map[float64]string{
		0: "0", 0.01: "0.01", 12.5: "12.5", 1000: "1,000", 65536: "65,536", 1234567: "1,234,567", -20000: "−20,000", 999: "999", 4e20: "4e+20", 1234.5: "1234.5",
	} {
		if got := Number(v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}
