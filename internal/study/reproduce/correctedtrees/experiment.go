package correctedtrees

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"banyan/internal/study/campaign"
	"banyan/internal/study/pieces"
	"banyan/internal/study/report"
)

// Progress is called with how far a step is: done of total.
type Progress func(step string, done, total int)

// experiment is what the studies share.
type experiment struct {
	Parameters
	dir      string
	progress Progress
	store    *pieces.Store
}

// Run simulates everything, writes what the campaigns found to files below the
// directory, and returns the report. When ctx ends it stops early and returns its error: what is
// finished stays, and Run with the same parameters goes on there. So it does after a kill, which
// loses some seconds of work. A directory with results of other parameters, or of a simulator with
// other outcomes, is refused with [pieces.ErrOther].
func Run(ctx context.Context, dir string, p Parameters, progress Progress) (_ *report.Report, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(string, int, int) {}
	}
	e := &experiment{Parameters: p, dir: dir, progress: progress}
	if err := report.Prepare(filepath.Join(dir, runsName)); err != nil {
		return nil, err
	}
	if e.store, err = e.open(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.store.Close()) }()
	var s studies
	for _, study := range []func(context.Context, *studies) error{
		e.studyFaultFree, e.studyNumberings, e.studyFaults, e.studyUncoloured, e.studyOpportunistic, e.studyGossip,
	} {
		if err := study(ctx, &s); err != nil {
			return nil, err
		}
	}
	return e.report(&s), nil
}

// studies are the findings.
type studies struct {
	faultFree     faultFreeStudy
	numberings    numberingStudy
	faults        faultStudy
	uncoloured    uncolouredStudy
	opportunistic opportunisticStudy
	gossip        gossipStudy
}

// campaign runs a campaign, or what its file lacks of it, and calls a function with every
// result.
func (e *experiment) campaign(ctx context.Context, name, step, fields string, each func(*result) error) error {
	text := fmt.Sprintf("# %s; banyan sim campaign runs it\nseed: %d\nL: %d\no: %d\n%s", step, e.Seed, latency, overhead, fields)
	spec, err := campaign.Parse(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("spec %s: %w", name, err)
	}
	path := filepath.Join(e.dir, runsName, name)
	if err := os.WriteFile(path+".yaml", []byte(text), 0o666); err != nil {
		return err
	}
	progress := func(done, total int) { e.progress(step, done, total) }
	if err := spec.Run(ctx, path+".csv", e.Workers, progress); err != nil {
		return err
	}
	return readResults(path+".csv", each)
}

// list writes values as a list in a spec.
func list[T any](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func treeList() string {
	var specs []string
	for _, t := range trees {
		specs = append(specs, t.spec)
	}
	return list(specs)
}

// deadCounts are the numbers of dead processes at the rates, each once.
func (e *experiment) deadCounts() []int {
	var counts []int
	for _, r := range rates {
		if d := deadAt(r, e.Procs); len(counts) == 0 || counts[len(counts)-1] != d {
			counts = append(counts, d)
		}
	}
	return counts
}

// treeNamed is the index of a tree, by its name in a spec.
func treeNamed(spec string) (int, error) {
	for i, t := range trees {
		if t.spec == spec {
			return i, nil
		}
	}
	return 0, fmt.Errorf("tree %q", spec)
}

// seedOf is the seed of one of many broadcasts that no campaign holds.
func (e *experiment) seedOf(what string, i int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(e.Seed, 10) + "," + what + "," + strconv.Itoa(i))) // a hash takes everything
	return h.Sum64()
}
