package report

import (
	"strings"
	"testing"
)

// TestMarkdown: claims and reasons, and tables that are shown; no line of prose is long.
func TestMarkdown(t *testing.T) {
	r := full()
	r.Claims[1].What, r.Claims[1].Explanation = "a|b", strings.Repeat("long words ", 30)
	text := string(r.Markdown("pictures"))
	for _, want := range []string{
		"Of 3 claims 1 agree, 1 differ, 1 open.\n", "| Where | Claim | Paper | Ours |  |\n| --- | --- | --- | --- | --- |\n| 1 | a | 1 | 1 |  |\n",
		`| 2 | a\|b | 1 | 2 | **differs** |`, "\n- **2: a|b.** The paper: 1; ours: 2. long words long", "- **3: c.**",
		"[Log](pictures/log.svg)", "**Shown.** c\n\n| a | b |\n| --- | --- |\n| 1 | x,y |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "s3cr3t") {
		t.Error("a hidden table is shown")
	}
	for line := range strings.Lines(text) {
		if len([]rune(line)) > 101 && !strings.HasPrefix(line, "|") {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}
