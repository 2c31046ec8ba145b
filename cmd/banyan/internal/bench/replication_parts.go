package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"banyan/bench/replication"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

// applications returns the user's program, or the project's own programs.
func (f *replicationFlags) applications(bin replication.Installed) ([]replication.Application, error) {
	if len(f.program) == 0 {
		return bin.Applications(f.matrix, 1)
	}
	if _, err := exec.LookPath(f.program[0]); err != nil {
		return nil, err
	}
	return []replication.Application{{Name: filepath.Base(f.program[0]), Command: f.program, Varies: true}}, nil
}

// part measures one part and writes its table.
func (f *replicationFlags) part(ctx context.Context, out io.Writer, part string, bin replication.Installed, applications []replication.Application) error {
	begin := func(total int, what string) (end func()) {
		bar := progress.NewLong(total, what)
		f.bench.Progress = bar.Step
		return bar.Clear
	}
	switch part {
	case partPingPong:
		languages, err := f.bench.Languages(ctx, mpicc(bin, "only Go is measured"))
		if err != nil {
			return err
		}
		end := begin(f.bench.Rounds*len(languages)*len(f.sizes)*len(f.bench.Measured(replication.Alone)), "ping-pongs")
		rows, err := f.bench.PingPongs(ctx, languages, f.sizes)
		end()
		if err != nil {
			return err
		}
		if f.chart != "" {
			if err := drawPingPongs(f.chart, languages[0].Name, rows); err != nil {
				return fmt.Errorf("--chart: %w", err)
			}
		}
		return table.Write(out, f.format, pingPongColumns(f.bench.Measured(replication.Parallel)), rows)
	case partInstructions:
		if mpicc(bin, "instructions aren't counted") == "" {
			return nil
		}
		end := begin(4*len(replication.CountedSizes()), "counts")
		rows, err := f.bench.Instructions(ctx, string(bin), replication.CountedSizes())
		end()
		if err != nil {
			return err
		}
		return table.Write(out, f.format, instructionsColumns, rows)
	case partApplications:
		end := begin(f.bench.Rounds*len(applications)*len(f.bench.Measured(replication.Beside)), "applications")
		rows, err := f.bench.Runs(ctx, applications)
		end()
		if err != nil {
			return err
		}
		return table.Write(out, f.format, applicationColumns(f.bench.Measured(replication.Parallel)), rows)
	case partFrames:
		end := begin(2*(1+len(applications)), "traces")
		rows, err := f.bench.Frames(ctx, applications)
		end()
		if err != nil {
			return err
		}
		return table.Write(out, f.format, framesColumns, rows)
	case partOrder:
		end := begin(f.bench.OrderJobs(), "jobs")
		rows, err := f.bench.Orders(ctx)
		end()
		if err != nil {
			return err
		}
		return table.Write(out, f.format, orderColumns, rows)
	case partBroadcast:
		sizes, bench := replication.BroadcastSizes(), f.bench
		bench.Ranks = max(bench.Ranks, 4)
		end := begin(2*bench.Rounds*len(sizes), "broadcasts")
		bench.Progress = f.bench.Progress
		rows, err := bench.Broadcasts(ctx, sizes)
		end()
		if err != nil {
			return err
		}
		return table.Write(out, f.format, broadcastColumns, rows)
	case partHeal:
		end := begin(len(f.states)*f.heals, "heals")
		rows, err := f.bench.Healings(ctx, f.states, f.heals, f.seed)
		end()
		if err != nil {
			return err
		}
		return table.Write(out, f.format, healColumns, rows)
	default:
		end := begin(2*len(f.transports)*f.kills, "kills")
		rows, err := f.bench.Pauses(ctx, f.transports, f.kills, f.seed)
		end()
		if err != nil {
			return err
		}
		return table.Write(out, f.format, failoverColumns, rows)
	}
}

// drawPingPongs writes the two charts of figure 7.
func drawPingPongs(name, language string, rows []replication.PingPong) error {
	for _, figure := range replication.Figures(language, rows) {
		picture, err := figure.SVG()
		if err == nil {
			err = os.WriteFile(name+"-"+figure.Name+".svg", picture, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
