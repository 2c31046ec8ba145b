package output

import (
	"strings"
	"testing"
)

// The first line that differs is known, however the replicas' bytes come, and whichever lags.
func TestFirstDifference(t *testing.T) {
	long := strings.Repeat("ä", 150)
	for _, c := range []struct {
		name, a, b string
		line       int
		want       string
	}{
		{"a time", "start\ntime 1.25 s\nend\n", "start\ntime 1.5 s\nend\n", 2, `"time 1.25 s" was shown, replica 1 has "time 1.5 s"`},
		{"only the first", "1\n2\n", "3\n4\n", 1, `"1" was shown, replica 1 has "3"`},
		{"one ends", "1\n2\n", "1\n", 2, `"2" was shown, replica 1 has ""`},
		{"one goes on", "1\n", "1\n2\n", 2, `"" was shown, replica 1 has "2"`},
		{"no line end", "1\n2", "1\n3", 2, `"2" was shown, replica 1 has "3"`},
		{"far in", long + "x" + long + "\n", long + "y" + long + "\n", 1,
			`…"` + strings.Repeat("ä", 15) + "x" + strings.Repeat("ä", 15) + `"… was shown, replica 1 has …"` + strings.Repeat("ä", 15) + "y" + strings.Repeat("ä", 15) + `"…`},
	} {
		for _, piece := range []int{1, 3, 7, 1000} {
			for _, order := range []int{0, 1, 2} {
				m := NewMerger(2, 4096, false)
				texts := [2]string{c.a, c.b}
				feed := func(i, n int) {
					n = min(n, len(texts[i]))
					taken, _ := m.Feed(i, []byte(texts[i][:n]), nil)
					texts[i] = texts[i][taken:]
				}
				for len(texts[0])+len(texts[1]) > 0 {
					switch {
					case order == 0 && texts[0] != "":
						feed(0, piece)
					case order == 1 && texts[1] != "":
						feed(1, piece)
					default:
						feed(0, piece)
						feed(1, piece)
					}
				}
				m.Closed(0, true, nil)
				m.Closed(1, true, nil)
				d := m.Difference()
				if d == nil || d.Line != c.line || d.Replica != 1 || d.String() != c.want {
					t.Errorf("%s, pieces of %d, order %d: %+v %v, want line %d, %s", c.name, piece, order, d, d, c.line, c.want)
				}
			}
		}
	}
}

// A replica that lags far behind is compared, but what was shown meanwhile isn't kept in full.
func TestDifferenceFarBehind(t *testing.T) {
	m := NewMerger(2, 4096, false)
	for range 3 * linesKept {
		m.Feed(0, []byte("a line\n"), nil)
	}
	if len(m.texts) != linesKept {
		t.Fatalf("%d lines are kept", len(m.texts))
	}
	for range 2 * linesKept {
		m.Feed(1, []byte("a line\n"), nil)
	}
	m.Feed(1, []byte("b line\n"), nil)
	if d := m.Difference(); d == nil || d.Line != 2*linesKept+1 || d.String() != "" {
		t.Fatalf("%+v", d)
	}
	if m.texts != nil {
		t.Error("lines are kept after the difference")
	}
}
