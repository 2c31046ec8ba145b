package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/testing/house"
)

// TestDeployNamesWhatThereIs holds the command lines in manifests and batch scripts against the
// commands and their flags. In manifests they are lists on one line, or lines of a shell.
func TestDeployNamesWhatThereIs(t *testing.T) {
	var files []string
	for _, pattern := range []string{"kubernetes/*/*.yaml", "slurm/*.sbatch", "container/Containerfile"} {
		found, err := filepath.Glob(filepath.Join("../../deploy", pattern))
		if err != nil || len(found) == 0 {
			t.Fatal("no files", pattern, err)
		}
		files = append(files, found...)
	}
	commands := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range deployLines(string(text)) {
			commands += strings.Count(line, "banyan agent") + strings.Count(line, "banyan run")
			for _, problem := range wrong(house.Code{Text: line, Block: true}) {
				t.Errorf("%s:%d: %s", file, i+1, problem)
			}
		}
	}
	if commands < 5 {
		t.Errorf("only %d commands in %q", commands, files)
	}
}

var (
	listItem   = regexp.MustCompile(`^(?:- )?(?:command: \[(.*)\]|- )`)
	quotation  = regexp.MustCompile(`["']`)
	comments   = regexp.MustCompile(`(?:^|\s)#.*`)
	separators = regexp.MustCompile(`,\s*`)
)

// deployLines are the lines of a file, as a shell would have them.
func deployLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(comments.ReplaceAllString(line, ""))
		if m := listItem.FindStringSubmatch(line); m != nil && m[1] != "" {
			line = separators.ReplaceAllString(m[1], " ")
		}
		lines[i] = quotation.ReplaceAllString(strings.TrimPrefix(line, "- "), "")
	}
	return lines
}
