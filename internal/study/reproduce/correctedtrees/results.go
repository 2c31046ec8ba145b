package correctedtrees

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// result is one line of a campaign's results.
type result struct {
	tree, numbering       string // tree as in a spec: "kary:4"
	procs, distance, dead int
	seed                  uint64
	messages, unreached   int
	quiescence, maxGap    int
}

// readResults reads a campaign's results line by line and calls each with them, always in the
// same memory. Errors name line and column.
func readResults(path string, each func(*result) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := csv.NewReader(file)
	lines.ReuseRecord = true
	header, err := lines.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	column := map[string]int{}
	for i, name := range header {
		column[name] = i
	}
	for _, name := range []string{"procs", "tree", "k", "numbering", "distance", "failed_count", "seed", "messages", "unreached", "quiescence", "max_gap"} {
		if _, ok := column[name]; !ok {
			return fmt.Errorf("%s: no column %s", path, name)
		}
	}
	for n := 2; ; n++ {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		var r result
		for _, x := range []struct {
			name string
			to   *int
		}{
			{"procs", &r.procs}, {"distance", &r.distance}, {"failed_count", &r.dead},
			{"messages", &r.messages}, {"unreached", &r.unreached}, {"quiescence", &r.quiescence}, {"max_gap", &r.maxGap},
		} {
			text := line[column[x.name]]
			if x.name == "distance" && text == "" {
				continue
			}
			if *x.to, err = strconv.Atoi(text); err != nil {
				return fmt.Errorf("%s: line %d: %s: %q is no number", path, n, x.name, text)
			}
		}
		if r.seed, err = strconv.ParseUint(line[column["seed"]], 10, 64); err != nil {
			return fmt.Errorf("%s: line %d: seed: %w", path, n, err)
		}
		r.tree, r.numbering = line[column["tree"]], line[column["numbering"]]
		if k := line[column["k"]]; k != "" {
			r.tree += ":" + k
		}
		if err := each(&r); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, n, err)
		}
	}
}
