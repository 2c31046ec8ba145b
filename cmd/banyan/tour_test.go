package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fence is a block of a document between lines of three backquotes.
type fence struct {
	language    string
	first, last int // lines inside, from first up to but not last
}

func fences(lines []string) (blocks []fence) {
	open := -1
	for i, line := range lines {
		language, is := strings.CutPrefix(line, "```")
		switch {
		case !is:
		case open < 0:
			blocks, open = append(blocks, fence{language: language, first: i + 1}), i
		default:
			blocks[len(blocks)-1].last, open = i, -1
		}
	}
	return blocks
}

// TestTours runs the commands of documents, one block after the other. A block of text that
// follows is their output: BANYAN_UPDATE=docs writes it anew. Blocks of "console", a command
// after "$ " and what it prints, take long, and run only with BANYAN_TOUR=long.
func TestTours(t *testing.T) {
	for _, d := range []struct {
		name            string
		commands, shown int // blocks of each, at least
	}{
		{"guide/simulation.md", 10, 5},
		{"results/detector-quality.md", 2, 2},
		{"guide/plan-detector.md", 3, 3},
		{"guide/plan-membership.md", 3, 3},
		{"results/membership-bench.md", 4, 4},
		{"guide/plan-replication.md", 2, 2},
	} {
		t.Run(filepath.Base(d.name), func(t *testing.T) { tour(t, "../../docs/"+d.name, d.commands, d.shown) })
	}
}

func tour(t *testing.T, path string, leastCommands, leastShown int) {
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(document), "\n")
	patience, long := 5*time.Minute, os.Getenv("BANYAN_TOUR") == "long"
	if long {
		patience = time.Hour
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	dir := t.TempDir()
	blocks := fences(lines)
	var updated []string
	done, commands, shown := 0, 0, 0
	for i, b := range blocks {
		script, text := lines[b.first:b.last], fence{}
		switch {
		case b.language == "sh":
			if i+1 < len(blocks) && blocks[i+1].language == "text" && blocks[i+1].first <= b.last+3 {
				text = blocks[i+1]
			}
		case b.language == "console" && long:
			script = []string{strings.TrimPrefix(script[0], "$ ")}
			text = fence{first: b.first + 1, last: b.last}
		default:
			continue
		}
		commands++
		var stdout, stderr bytes.Buffer
		run := exec.CommandContext(ctx, "sh", "-eu")
		run.Dir, run.Stdin = dir, strings.NewReader(strings.Join(script, "\n")+"\n")
		run.Stdout, run.Stderr = &stdout, &stderr
		if err := run.Run(); err != nil {
			t.Fatalf("line %d of %s: %v: %s", b.first+1, filepath.Base(path), err, &stderr)
		}
		if text.first == 0 {
			continue
		}
		shown++
		got := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
		if want := strings.Join(lines[text.first:text.last], "\n"); strings.Join(got, "\n") != want {
			t.Errorf("line %d of %s: printed\n%s\nnot\n%s", text.first+1, filepath.Base(path), &stdout, want)
		}
		updated = append(append(updated, lines[done:text.first]...), got...)
		done = text.last
	}
	if commands < leastCommands || shown < leastShown {
		t.Errorf("only %d blocks of commands and %d of what they print", commands, shown)
	}
	if os.Getenv("BANYAN_UPDATE") == "docs" {
		if err := os.WriteFile(path, []byte(strings.Join(append(updated, lines[done:]...), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
