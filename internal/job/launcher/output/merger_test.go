package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// script feeds a Merger and returns what was emitted: "0:text" feeds replica 0, "0+" closes it in
// order, "0-" by death, "0=1" has it follow replica 1, "~" is a quiet moment.
func script(t *testing.T, m *Merger, steps ...string) string {
	t.Helper()
	var out []byte
	for _, s := range steps {
		i := int(s[0] - '0')
		switch {
		case s == "~":
			out = m.Flush(out)
		case s[1] == '!':
			out = m.FeedAll(i, []byte(s[2:]), out)
		case s[1] == '=':
			m.Follow(i, int(s[2]-'0'))
		case s[1] == '+' || s[1] == '-':
			out = m.Closed(i, s[1] == '+', out)
		default:
			n := 0
			if n, out = m.Feed(i, []byte(s[2:]), out); n != len(s)-2 {
				t.Fatalf("%q was taken in part only", s)
			}
		}
	}
	return string(out)
}

func TestMerger(t *testing.T) {
	for _, tc := range []struct {
		name     string
		replicas int
		eager    bool
		steps    []string
		want     string
		diverged bool
	}{
		{"leader only", 2, false, []string{"0:a\nb\n", "1:a\nb\n"}, "a\nb\n", false},
		{"unfinished line waits", 2, false, []string{"0:a\nb"}, "a\n", false},
		{"prompt appears after quiet", 2, false, []string{"0:name? ", "~"}, "name? ", false},
		{"prompt appears at once when eager", 1, true, []string{"0:name? "}, "name? ", false},
		{"end without newline", 1, false, []string{"0:a\nb", "0+"}, "a\nb", false},
		{"death in the middle of a line", 2, false, []string{"0:a\nbc", "0-", "1:a\nbcd\n"}, "a\nbcd\n", false},
		{"death after a part was shown", 2, false, []string{"0:bc", "~", "0-", "1:b", "1:cd", "1+"}, "bcd", false},
		{"substitute ahead", 2, false, []string{"1:a\nb\nc\n", "0:a\n", "0-"}, "a\nb\nc\n", false},
		{"substitute has left already", 2, false, []string{"1:a\nb", "1+", "0:a\n", "0-"}, "a\nb", false},
		{"both die, last words of the leader", 2, false, []string{"0:a\nb", "1-", "0-"}, "a\nb", false},
		{"both die, last words of the other", 2, false, []string{"1:a\nbc", "1-", "0:a\nb", "0-"}, "a\nbc", false},
		{"last words don't repeat what was shown", 2, false, []string{"0:abc", "~", "1:ab", "1-", "0-"}, "abc", false},
		{"different times", 2, false, []string{"0:1s\n2s", "1:1.1s\n2.1s\n", "0-", "1:end\n", "1+"}, "1s\n2.1s\nend\n", true},
		{"different prompts", 2, false, []string{"0:at 1s> ", "~", "0-", "1:at 2s> ", "1:yes\n"}, "at 1s> \nat 2s> yes\n", true},
		{"different and shorter", 2, false, []string{"0:abc", "~", "0-", "1:x\ny\n"}, "abc\nx\ny\n", true},
		{"complete with less than shown", 2, false, []string{"0:abc", "~", "0-", "1:a", "1+"}, "abc", true},
		{"one has more lines", 2, false, []string{"0:a\n", "0+", "1:a\nb\n", "1+"}, "a\n", true},
		{"one has fewer lines", 2, false, []string{"1:a\n", "1+", "0:a\nb\n", "0+"}, "a\nb\n", true},
		{"different ends", 2, false, []string{"1:a", "1+", "0:b", "0+"}, "b", true},
		{"equal ends", 3, false, []string{"1:a", "1+", "0:a", "0+", "2:", "2:a", "2+"}, "a", false},
		{"two substitutions", 3, false, []string{"0:a\nb", "0-", "2:a\nb\nc\n", "1:a\nb\n", "1-", "2:d\n"}, "a\nb\nc\nd\n", false},
		{"revived, then alone", 2, false, []string{"0:a\nb", "0-", "1:a\nbc\nd", "0=1", "0:e\n", "1-", "0:f\n", "0+"}, "a\nbc\nde\nf\n", false},
		{"revived in a line that was shown", 2, false, []string{"0-", "1:ab", "~", "0=1", "0:c", "1-", "0:d\n"}, "abcd\n", false},
		{"revived, behind the other", 2, false, []string{"1:a\n", "1-", "0:a\nb\n", "1=0", "0:c\nd\n", "1:c\n", "0-", "1:d\ne\n", "1+"}, "a\nb\nc\nd\ne\n", false},
		{"revived, and dead again", 2, false, []string{"0-", "1:a\n", "0=1", "0:b\n", "0-", "1:b\n", "0=1", "1-", "0:c\n"}, "a\nb\nc\n", false},
		{"revived, writes otherwise", 2, false, []string{"0-", "1:a\n", "0=1", "1:b\n", "0:x\n", "1+", "0+"}, "a\nb\n", true},
		{"empty", 2, false, []string{"0+", "1+"}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewMerger(tc.replicas, 1000, tc.eager)
			if got := script(t, m, tc.steps...); got != tc.want {
				t.Errorf("emitted %q, want %q", got, tc.want)
			}
			if diverged := m.Difference() != nil; diverged != tc.diverged {
				t.Errorf("diverged is %v", diverged)
			}
		})
	}
}

// FeedAll takes everything at once, and back-pressure is back afterwards.
func TestFeedAll(t *testing.T) {
	m := NewMerger(2, 10, false)
	long := strings.Repeat("line\n", 10)
	script(t, m, "1!"+long)
	if n, _ := m.Feed(1, []byte("x"), nil); n != 0 {
		t.Error("it takes more, without the leader")
	}
	if got := script(t, m, "0-", "0=1", "1:x\n"); got != long+"x\n" {
		t.Errorf("emitted %q", got)
	}
}

func TestBackPressureIsForThoseAhead(t *testing.T) {
	m := NewMerger(2, 10, false)
	long := []byte(strings.Repeat("line\n", 10))
	n, out := m.Feed(1, long, nil)
	if n != 10 || len(out) != 0 {
		t.Fatalf("%d bytes of a replica ahead were taken, want 10", n)
	}
	if n, out = m.Feed(0, long, out); n != len(long) || !bytes.Equal(out, long) {
		t.Fatalf("the leader was held up: %d taken, %q emitted", n, out)
	}
	if n, _ = m.Feed(1, long[10:], nil); n != len(long)-10 {
		t.Errorf("%d bytes of a replica behind were taken, want all", n)
	}
}

// Lines longer than the limit pass in pieces, and survive deaths.
func TestEndlessLine(t *testing.T) {
	text := []byte(strings.Repeat("0123456789", 100))
	m := NewMerger(2, 8, false)
	var out []byte
	_, out = m.Feed(0, text[:500], out)
	if len(out) < 490 {
		t.Fatalf("only %d bytes of 500 passed", len(out))
	}
	n, _ := m.Feed(1, text, nil)
	if n < 490 || n > 510 {
		t.Fatalf("%d bytes of the other were taken", n)
	}
	out = m.Closed(0, false, out)
	_, out = m.Feed(1, text[n:], out)
	if out = m.Closed(1, true, out); !bytes.Equal(out, text) {
		t.Errorf("got %d bytes: %q", len(out), out)
	}
	if m.Difference() != nil {
		t.Error("diverged")
	}
}

func TestLinesToCompareAreBounded(t *testing.T) {
	m := NewMerger(2, 100, false)
	for range 3 * maxHashes {
		m.Feed(0, newline, nil)
	}
	if len(m.hashes) > 2*maxHashes+2 {
		t.Errorf("%d hashes are kept", len(m.hashes))
	}
	m.Feed(1, bytes.Repeat(newline, 3*maxHashes), nil)
	m.Feed(0, newline, nil)
	if len(m.hashes) > 1 {
		t.Errorf("%d hashes are kept though all has been compared", len(m.hashes))
	}
	if m.Difference() != nil {
		t.Error("diverged")
	}
}

// run feeds a Merger the texts of its replicas, in random chunks, with random quiet moments. A
// replica with cut ≥ 0 dies after that many bytes. run checks that buffers keep their limit.
func run(t *rapid.T, m *Merger, texts [][]byte, cuts []int, quiet bool) []byte {
	var out []byte
	fed := make([]int, len(texts))
	closed := make([]bool, len(texts))
	for stuck := 0; ; {
		var alive []int
		for i := range texts {
			if !closed[i] {
				alive = append(alive, i)
			}
		}
		if len(alive) == 0 {
			return out
		}
		if quiet && rapid.IntRange(0, 9).Draw(t, "quiet") == 0 {
			out = m.Flush(out)
		}
		i := alive[rapid.IntRange(0, len(alive)-1).Draw(t, "who")]
		if stuck > 0 { // then it must be the leader's turn
			i = m.Leader()
		}
		text := texts[i]
		if cuts[i] >= 0 {
			text = text[:cuts[i]]
		}
		if fed[i] == len(text) {
			closed[i] = true
			out = m.Closed(i, cuts[i] < 0, out)
			stuck = 0
			continue
		}
		size := min(rapid.IntRange(1, 30).Draw(t, "size"), len(text)-fed[i])
		var n int
		n, out = m.Feed(i, text[fed[i]:fed[i]+size], out)
		if stuck++; n > 0 {
			stuck = 0
		}
		if stuck > 1 {
			t.Fatalf("the leader %d is held up", i)
		}
		fed[i] += n
		for j := range m.replicas {
			if len(m.replicas[j].buffered) > m.limit {
				t.Fatalf("%d bytes are held, more than %d", len(m.replicas[j].buffered), m.limit)
			}
		}
	}
}

// Equal texts are emitted byte by byte, whichever replicas die at whatever bytes.
func TestExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 200, -1).Draw(t, "text"))
		replicas := rapid.IntRange(1, 4).Draw(t, "replicas")
		survivor := rapid.IntRange(0, replicas-1).Draw(t, "survivor")
		limit := rapid.SampledFrom([]int{2, 5, 20, 1000}).Draw(t, "limit")
		texts, cuts := make([][]byte, replicas), make([]int, replicas)
		for i := range texts {
			texts[i], cuts[i] = text, -1
			if i != survivor {
				cuts[i] = rapid.IntRange(-1, len(text)).Draw(t, "cut")
			}
		}
		m := NewMerger(replicas, limit, rapid.Bool().Draw(t, "eager"))
		if out := run(t, m, texts, cuts, true); !bytes.Equal(out, text) {
			t.Fatalf("emitted %q, want %q", out, text)
		}
		if d := m.Difference(); d != nil {
			t.Fatalf("equal texts were called different in line %d", d.Line)
		}
	})
}

// If all replicas die, the furthest prefix is emitted.
func TestLastWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 200, -1).Draw(t, "text"))
		replicas := rapid.IntRange(1, 3).Draw(t, "replicas")
		texts, cuts := make([][]byte, replicas), make([]int, replicas)
		furthest := 0
		for i := range texts {
			texts[i], cuts[i] = text, rapid.IntRange(0, len(text)).Draw(t, "cut")
			furthest = max(furthest, cuts[i])
		}
		m := NewMerger(replicas, 1000, false)
		if out := run(t, m, texts, cuts, true); !bytes.Equal(out, text[:furthest]) {
			t.Fatalf("emitted %q, want %q", out, text[:furthest])
		}
	})
}

// Different texts are emitted in whole lines: the n-th emitted line is some replica's n-th line.
func TestDivergentLinesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.IntRange(1, 30).Draw(t, "lines")
		replicas := rapid.IntRange(2, 4).Draw(t, "replicas")
		survivor := rapid.IntRange(0, replicas-1).Draw(t, "survivor")
		texts, cuts := make([][]byte, replicas), make([]int, replicas)
		for i := range texts {
			for n := range lines {
				texts[i] = fmt.Appendf(texts[i], "%d of replica %d%s\n", n, i, strings.Repeat("!", i))
			}
			cuts[i] = -1
			if i != survivor {
				cuts[i] = rapid.IntRange(-1, len(texts[i])).Draw(t, "cut")
			}
		}
		m := NewMerger(replicas, 100, false)
		out := run(t, m, texts, cuts, false)
		got := strings.SplitAfter(string(out), "\n")
		if len(got) != lines+1 || got[lines] != "" {
			t.Fatalf("%d lines emitted, want %d:\n%s", len(got)-1, lines, out)
		}
		whose := 0
		for n, line := range got[:lines] {
			var number, i int
			fmt.Sscanf(line, "%d of replica %d", &number, &i)
			if number != n || line != fmt.Sprintf("%d of replica %d%s\n", n, i, strings.Repeat("!", i)) {
				t.Fatalf("line %d is torn: %q", n, line)
			}
			if i < whose {
				t.Fatalf("line %d is of replica %d, after some of replica %d", n, i, whose)
			}
			whose = i
		}
		if m.Difference() == nil && cuts[survivor] < 0 && allFinish(cuts) {
			t.Fatal("the difference wasn't noticed")
		}
	})
}

func allFinish(cuts []int) bool {
	for _, c := range cuts {
		if c >= 0 {
			return false
		}
	}
	return true
}

func BenchmarkMerger(b *testing.B) {
	chunk := []byte(strings.Repeat("a line of some usual length, as programs print them\n", 600))
	for _, replicas := range []int{1, 2} {
		b.Run(fmt.Sprintf("replicas=%d", replicas), func(b *testing.B) {
			m := NewMerger(replicas, 1<<18, false)
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				for i := range replicas {
					_, out = m.Feed(i, chunk, out[:0])
				}
			}
		})
	}
}

// What a replica alone has written isn't shown while others live: it may die, and they may write
// something else.
func TestMergerTogether(t *testing.T) {
	for _, tc := range []struct {
		name     string
		replicas int
		steps    []string
		want     string
	}{
		{"the leader is ahead", 2, []string{"0:a\nb\n", "1:a\n"}, "a\n"},
		{"the other one is ahead", 2, []string{"1:a\nb\n", "0:a\n"}, "a\n"},
		{"the other one comes", 2, []string{"0:a\nb\n", "1:a\n", "1:b\n"}, "a\nb\n"},
		{"the leader dies with what only it has written", 2, []string{"0:a\nb\n", "1:a\n", "0-", "1:c\n", "1+"}, "a\nc\n"},
		{"the other one dies", 2, []string{"0:a\nb\n", "1-"}, "a\nb\n"},
		{"a prompt of both", 2, []string{"0:name? ", "~", "1:nam", "~", "1:e? ", "~"}, "name? "},
		{"a prompt of one", 2, []string{"0:name? ", "~", "1:nam", "~"}, "nam"},
		{"the slowest counts", 3, []string{"0:a\nb\n", "1:a\nb\n", "2:a\n", "1:c\n", "0:c\n"}, "a\n"},
		{"both die", 2, []string{"0:a\nb\n", "1:a\n", "1-", "0-"}, "a\nb\n"},
		{"in order", 2, []string{"0:a\nb", "0+", "1:a\nb", "1+"}, "a\nb"},
		{"the last leaves when the first is dead", 2, []string{"0:a\n", "0-", "1:a\nb", "1+"}, "a\nb"},
	} {
		m := NewMerger(tc.replicas, 100, false)
		m.EmitTogether()
		if got := script(t, m, tc.steps...); got != tc.want || m.Difference() != nil {
			t.Errorf("%s: %q, not %q; difference %v", tc.name, got, tc.want, m.Difference())
		}
	}
}
