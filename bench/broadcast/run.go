package broadcast

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"banyan/bench/peers"
)

//go:embed programs/bcast.c
var source []byte

// jobLimit ends a job that doesn't end, beyond the time that its misses may take.
const jobLimit = time.Minute

// Bench is the libraries whose programs are built.
type Bench struct {
	libraries []peers.Library // Banyan's is the first
	programs  []string
}

// Build builds the program in dir with each library. It leaves out those whose compiler is missing,
// and returns their names.
func Build(dir string, libraries []peers.Library) (b *Bench, missing []string, err error) {
	b = new(Bench)
	file := filepath.Join(dir, "bcast.c")
	if err := os.WriteFile(file, source, 0o644); err != nil {
		return nil, nil, err
	}
	for _, l := range libraries {
		if _, err := exec.LookPath(l.CC); err != nil {
			missing = append(missing, l.Name)
			continue
		}
		program := filepath.Join(dir, "bcast-"+l.Name)
		if out, err := exec.Command(l.CC, "-O2", "-o", program, file).CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w\n%s", l.CC, err, out)
		}
		b.libraries, b.programs = append(b.libraries, l), append(b.programs, program)
	}
	return b, missing, nil
}

// Peers are the names of the libraries beside Banyan's.
func (b *Bench) Peers() (names []string) {
	for _, l := range b.libraries {
		if l.Name != "banyan" {
			names = append(names, l.Name)
		}
	}
	return names
}

// sample is what one job tells.
type sample struct {
	ns     float64 // median latency; 0: all were missed
	missed int
}

// on is how a library is told the hosts of so many ranks.
func (p *Plan) on(l peers.Library, ranks int) []string {
	if len(p.Hosts) == 0 {
		return nil
	}
	return []string{l.Hosts, p.slots(ranks)}
}

// measure runs one job.
func (b *Bench) measure(ctx context.Context, p *Plan, s *Setting, round int) (x sample, err error) {
	i := slices.IndexFunc(b.libraries, func(l peers.Library) bool { return l.Name == s.Library })
	l, count := b.libraries[i], p.broadcasts(s.Bytes)
	ctx, cancel := context.WithTimeout(ctx, jobLimit+time.Duration(count)*p.Limit)
	defer cancel()
	args := slices.Clone(l.Exec)
	if s.Library == "banyan" {
		args = append([]string{l.Exec[0], "--bcast", s.Scheme, "--transport", p.Transport}, l.Patient...)
		args = append(args, p.on(l, s.Ranks)...)
		args = append(args, l.Exec[1:]...)
	} else if len(p.Hosts) > 0 {
		args = slices.Insert(args, len(args)-1, p.on(l, s.Ranks)...) // before -n
	} else if s.Library == "openmpi" && p.Transport == "tcp" {
		args = slices.Clone(l.TCP)
	}
	args = append(args, strconv.Itoa(s.Ranks), b.programs[i], strconv.Itoa(s.Bytes), strconv.Itoa(count), strconv.FormatInt(p.Limit.Milliseconds(), 10))
	for _, rank := range p.victims(s, round) {
		args = append(args, strconv.Itoa(rank))
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), l.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &x.ns, &x.missed)
	}
	if err != nil {
		return x, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return x, nil
}

// Run measures all settings of a plan. It calls progress after each job. A peer whose job fails has
// no row for that setting, and failed is told why; a failure of ours ends it all. If ctx ends it
// early, the rows are of the rounds that are whole, beside the error.
func (b *Bench) Run(ctx context.Context, p *Plan, progress func(), failed func(error)) ([]Row, error) {
	settings := p.Settings(b.Peers())
	samples := make([][]sample, len(settings)) // by setting and round
	for round := range p.Rounds {
		for k := range settings {
			i := (k + round*len(settings)/p.Rounds) % len(settings)
			if s := samples[i]; s != nil && len(s) < round {
				progress()
				continue // left out
			}
			x, err := b.measure(ctx, p, &settings[i], round)
			switch {
			case err == nil:
				samples[i] = append(samples[i], x)
			case ctx.Err() != nil:
				return whole(p, settings, samples, round), ctx.Err()
			case settings[i].Library == "banyan":
				return nil, err
			default:
				samples[i] = []sample{}
				failed(err)
			}
			progress()
		}
	}
	return whole(p, settings, samples, p.Rounds), nil
}

// whole are the rows of the settings that have samples of so many rounds, of these rounds alone.
func whole(p *Plan, settings []Setting, samples [][]sample, rounds int) []Row {
	if rounds == 0 {
		return nil
	}
	var kept []Setting
	var its [][]sample
	for i, s := range samples {
		if len(s) >= rounds {
			kept, its = append(kept, settings[i]), append(its, s[:rounds])
		}
	}
	return rows(p, kept, its)
}
