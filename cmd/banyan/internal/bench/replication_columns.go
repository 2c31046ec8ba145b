package bench

import (
	"math"

	"banyan/bench/peers"
	"banyan/bench/replication"
	"banyan/internal/study/table"
)

// overhead is a ratio in percent above 1, nil if there is none.
func overhead(ratio float64) any { return known(100 * (ratio - 1)) }

// known is a value, nil if there is none.
func known(value float64) any {
	if math.IsNaN(value) {
		return nil
	}
	return value
}

// overheadColumns are the overhead of a setting and its quartiles.
func overheadColumns[T any](name string, ratio func(*T) peers.Spread) []table.Column[T] {
	return []table.Column[T]{
		table.Col(name+"_%", func(r *T) any { return overhead(ratio(r).Median) }),
		table.Col(name+"_q1", func(r *T) any { return overhead(ratio(r).Low) }),
		table.Col(name+"_q3", func(r *T) any { return overhead(ratio(r).High) }),
	}
}

// pingPongColumns are those of the settings with replicas that were measured.
func pingPongColumns(measured []replication.Setting) []table.Column[replication.PingPong] {
	type row = replication.PingPong
	us := func(s replication.Setting) func(*row) any {
		return func(r *row) any { return r.Times[s].Median / 1e3 }
	}
	rate := func(s replication.Setting) func(*row) any {
		return func(r *row) any { return float64(r.Bytes) / r.Times[s].Median * 1e3 }
	}
	columns := []table.Column[row]{
		table.Col("language", func(r *row) any { return r.Language }),
		table.Col("bytes", func(r *row) any { return r.Bytes }),
		table.Col("alone_us", us(replication.Alone)),
		table.Col("beside_us", us(replication.Beside)),
	}
	rates := []table.Column[row]{table.Col("beside_mb_s", rate(replication.Beside))}
	for _, s := range measured {
		columns = append(columns, table.Col(s.String()+"_us", us(s)))
		if s != replication.Verified {
			rates = append(rates, table.Col(s.String()+"_mb_s", rate(s)))
		}
	}
	for _, s := range measured {
		columns = append(columns, overheadColumns(s.String(), func(r *row) peers.Spread { return r.Ratios[s] })...)
	}
	return append(columns, rates...)
}

var instructionsColumns = func() []table.Column[replication.Messages] {
	type row = replication.Messages
	more := func(count func(*row) int) func(*row) any {
		return func(r *row) any { return overhead(float64(count(r)) / float64(r.Alone)) }
	}
	behind, ahead, mirror := func(r *row) int { return r.Behind }, func(r *row) int { return r.Ahead }, func(r *row) int { return r.Mirror }
	return []table.Column[row]{
		table.Col("bytes", func(r *row) any { return r.Bytes }),
		table.Col("by_lane", func(r *row) any { return r.Lane }),
		table.Col("not_replicated", func(r *row) any { return r.Alone }),
		table.Col("parallel_behind", func(r *row) any { return behind(r) }),
		table.Col("parallel_ahead", func(r *row) any { return ahead(r) }),
		table.Col("mirror", func(r *row) any { return mirror(r) }),
		table.Col("behind_%", more(behind)),
		table.Col("ahead_%", more(ahead)),
		table.Col("mirror_%", more(mirror)),
	}
}()

// applicationColumns are those of the settings with replicas that were measured.
func applicationColumns(measured []replication.Setting) []table.Column[replication.Run] {
	type row = replication.Run
	columns := []table.Column[row]{
		table.Col("application", func(r *row) any { return r.Name }),
		table.Col("ranks", func(r *row) any { return r.Ranks }),
		table.Col("replicas", func(r *row) any { return r.Replicas }),
	}
	cost := func(prefix string, of func(*row) *replication.Cost) {
		columns = append(columns, table.Col(prefix+"beside_s", func(r *row) any { return known(of(r).Seconds[replication.Beside].Median) }))
		for _, s := range measured {
			columns = append(columns, table.Col(prefix+s.String()+"_s", func(r *row) any { return known(of(r).Seconds[s].Median) }))
		}
		for _, s := range measured {
			name := prefix + s.String()
			columns = append(columns,
				table.Col(name+"_%", func(r *row) any { return overhead(of(r).Ratios[s].Ratio) }),
				table.Col(name+"_from", func(r *row) any { return overhead(of(r).Ratios[s].From) }),
				table.Col(name+"_to", func(r *row) any { return overhead(of(r).Ratios[s].To) }))
		}
	}
	cost("", func(r *row) *replication.Cost { return &r.Elapsed })
	cost("cpu_", func(r *row) *replication.Cost { return &r.CPU })
	return columns
}

var framesColumns = func() []table.Column[replication.Frames] {
	type row = replication.Frames
	return []table.Column[row]{
		table.Col("program", func(r *row) any { return r.Name }),
		table.Col("ranks", func(r *row) any { return r.Ranks }),
		table.Col("replicated", func(r *row) any {
			if r.Partial {
				return "rank 0"
			}
			return "all"
		}),
		table.Col("data", func(r *row) any { return r.Data }),
		table.Col("acknowledgements", func(r *row) any { return r.Acknowledgements }),
		table.Col("shareable", func(r *row) any { return r.Shareable }),
		table.Col("per_100_data", func(r *row) any { return 100 * float64(r.Acknowledgements) / float64(r.Data) }),
	}
}()

var broadcastColumns = func() []table.Column[replication.Broadcast] {
	type row = replication.Broadcast
	return []table.Column[row]{
		table.Col("bytes", func(r *row) any { return r.Bytes }),
		table.Col("processes", func(r *row) any { return r.Procs }),
		table.Col("trees_us", func(r *row) any { return r.Trees.Median / 1e3 }),
		table.Col("corrected_us", func(r *row) any { return r.Corrected.Median / 1e3 }),
		table.Col("ratio", func(r *row) any { return r.Ratio.Median }),
		table.Col("ratio_q1", func(r *row) any { return r.Ratio.Low }),
		table.Col("ratio_q3", func(r *row) any { return r.Ratio.High }),
	}
}()

var orderColumns = func() []table.Column[replication.Order] {
	type row = replication.Order
	us := func(of func(*row) peers.Spread) func(*row) any {
		return func(r *row) any { return known(of(r).Median / 1e3) }
	}
	columns := []table.Column[row]{
		table.Col("program", func(r *row) any { return r.Name }),
		table.Col("ranks", func(r *row) any { return r.Ranks }),
		table.Col("bytes", func(r *row) any { return r.Bytes }),
		table.Col("beside_us", us(func(r *row) peers.Spread { return r.Beside })),
		table.Col("free_us", us(func(r *row) peers.Spread { return r.Free })),
		table.Col("leader_us", us(func(r *row) peers.Spread { return r.Leader })),
	}
	columns = append(columns, overheadColumns("over_free", func(r *row) peers.Spread { return r.OverFree })...)
	return append(columns, overheadColumns("over_beside", func(r *row) peers.Spread { return r.OverBeside })...)
}()

var failoverColumns = func() []table.Column[replication.Pause] {
	type row = replication.Pause
	return []table.Column[row]{
		table.Col("protocol", func(r *row) any { return r.Protocol }),
		table.Col("transport", func(r *row) any { return r.Transport }),
		table.Col("kills", func(r *row) any { return r.Kills }),
		table.Col("pause_ms", func(r *row) any { return r.Milliseconds.Median }),
		table.Col("pause_q1", func(r *row) any { return r.Milliseconds.Low }),
		table.Col("pause_q3", func(r *row) any { return r.Milliseconds.High }),
		table.Col("longest_ms", func(r *row) any { return r.Longest }),
	}
}()

var healColumns = func() []table.Column[replication.Healing] {
	type row = replication.Healing
	return []table.Column[row]{
		table.Col("state_bytes", func(r *row) any { return r.State }),
		table.Col("heals", func(r *row) any { return r.Heals }),
		table.Col("pause_ms", func(r *row) any { return r.Pause.Median }),
		table.Col("pause_q1", func(r *row) any { return r.Pause.Low }),
		table.Col("pause_q3", func(r *row) any { return r.Pause.High }),
		table.Col("until_healed_ms", func(r *row) any { return r.Until.Median }),
		table.Col("until_q1", func(r *row) any { return r.Until.Low }),
		table.Col("until_q3", func(r *row) any { return r.Until.High }),
	}
}()
