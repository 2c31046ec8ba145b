package main

import (
	"math"

	"banyan/bench/peers"
	"banyan/bench/replication"
)

// overhead is a ratio in percent above 1; nothing if there is none.
func overhead(ratio float64) any { return known(100 * (ratio - 1)) }

// known is a value; nothing if there is none.
func known(value float64) any {
	if math.IsNaN(value) {
		return nil
	}
	return value
}

// overheadColumns are the overhead of a setting and its quartiles.
func overheadColumns[T any](name string, ratio func(*T) peers.Spread) []column[T] {
	return []column[T]{
		{name + "_%", func(r *T) any { return overhead(ratio(r).Median) }},
		{name + "_q1", func(r *T) any { return overhead(ratio(r).Low) }},
		{name + "_q3", func(r *T) any { return overhead(ratio(r).High) }},
	}
}

// pingPongColumns are those of the settings with replicas that were measured.
func pingPongColumns(measured []replication.Setting) []column[replication.PingPong] {
	type row = replication.PingPong
	us := func(s replication.Setting) func(*row) any {
		return func(r *row) any { return r.Times[s].Median / 1e3 }
	}
	rate := func(s replication.Setting) func(*row) any {
		return func(r *row) any { return float64(r.Bytes) / r.Times[s].Median * 1e3 }
	}
	columns := []column[row]{
		{"language", func(r *row) any { return r.Language }},
		{"bytes", func(r *row) any { return r.Bytes }},
		{"alone_us", us(replication.Alone)},
		{"beside_us", us(replication.Beside)},
	}
	rates := []column[row]{{"beside_mb_s", rate(replication.Beside)}}
	for _, s := range measured {
		columns = append(columns, column[row]{s.String() + "_us", us(s)})
		if s != replication.Verified {
			rates = append(rates, column[row]{s.String() + "_mb_s", rate(s)})
		}
	}
	for _, s := range measured {
		columns = append(columns, overheadColumns(s.String(), func(r *row) peers.Spread { return r.Ratios[s] })...)
	}
	return append(columns, rates...)
}

var instructionsColumns = func() []column[replication.Messages] {
	type row = replication.Messages
	more := func(count func(*row) int) func(*row) any {
		return func(r *row) any { return overhead(float64(count(r)) / float64(r.Alone)) }
	}
	behind, ahead, mirror := func(r *row) int { return r.Behind }, func(r *row) int { return r.Ahead }, func(r *row) int { return r.Mirror }
	return []column[row]{
		{"bytes", func(r *row) any { return r.Bytes }},
		{"not_replicated", func(r *row) any { return r.Alone }},
		{"parallel_behind", func(r *row) any { return behind(r) }},
		{"parallel_ahead", func(r *row) any { return ahead(r) }},
		{"mirror", func(r *row) any { return mirror(r) }},
		{"behind_%", more(behind)},
		{"ahead_%", more(ahead)},
		{"mirror_%", more(mirror)},
	}
}()

// applicationColumns are those of the settings with replicas that were measured.
func applicationColumns(measured []replication.Setting) []column[replication.Run] {
	type row = replication.Run
	columns := []column[row]{
		{"application", func(r *row) any { return r.Name }},
		{"ranks", func(r *row) any { return r.Ranks }},
		{"replicas", func(r *row) any { return r.Replicas }},
	}
	cost := func(prefix string, of func(*row) *replication.Cost) {
		columns = append(columns, column[row]{prefix + "beside_s", func(r *row) any { return known(of(r).Seconds[replication.Beside].Median) }})
		for _, s := range measured {
			columns = append(columns, column[row]{prefix + s.String() + "_s", func(r *row) any { return known(of(r).Seconds[s].Median) }})
		}
		for _, s := range measured {
			name := prefix + s.String()
			columns = append(columns,
				column[row]{name + "_%", func(r *row) any { return overhead(of(r).Ratios[s].Ratio) }},
				column[row]{name + "_from", func(r *row) any { return overhead(of(r).Ratios[s].From) }},
				column[row]{name + "_to", func(r *row) any { return overhead(of(r).Ratios[s].To) }})
		}
	}
	cost("", func(r *row) *replication.Cost { return &r.Elapsed })
	cost("cpu_", func(r *row) *replication.Cost { return &r.CPU })
	return columns
}

var framesColumns = func() []column[replication.Frames] {
	type row = replication.Frames
	return []column[row]{
		{"program", func(r *row) any { return r.Name }},
		{"ranks", func(r *row) any { return r.Ranks }},
		{"replicated", func(r *row) any {
			if r.Partial {
				return "rank 0"
			}
			return "all"
		}},
		{"data", func(r *row) any { return r.Data }},
		{"acknowledgements", func(r *row) any { return r.Acknowledgements }},
		{"shareable", func(r *row) any { return r.Shareable }},
		{"per_100_data", func(r *row) any { return 100 * float64(r.Acknowledgements) / float64(r.Data) }},
	}
}()

var broadcastColumns = func() []column[replication.Broadcast] {
	type row = replication.Broadcast
	return []column[row]{
		{"bytes", func(r *row) any { return r.Bytes }},
		{"processes", func(r *row) any { return r.Procs }},
		{"trees_us", func(r *row) any { return r.Trees.Median / 1e3 }},
		{"corrected_us", func(r *row) any { return r.Corrected.Median / 1e3 }},
		{"ratio", func(r *row) any { return r.Ratio.Median }},
		{"ratio_q1", func(r *row) any { return r.Ratio.Low }},
		{"ratio_q3", func(r *row) any { return r.Ratio.High }},
	}
}()

var failoverColumns = func() []column[replication.Pause] {
	type row = replication.Pause
	return []column[row]{
		{"protocol", func(r *row) any { return r.Protocol }},
		{"transport", func(r *row) any { return r.Transport }},
		{"kills", func(r *row) any { return r.Kills }},
		{"pause_ms", func(r *row) any { return r.Milliseconds.Median }},
		{"pause_q1", func(r *row) any { return r.Milliseconds.Low }},
		{"pause_q3", func(r *row) any { return r.Milliseconds.High }},
		{"longest_ms", func(r *row) any { return r.Longest }},
	}
}()

var healColumns = func() []column[replication.Healing] {
	type row = replication.Healing
	return []column[row]{
		{"state_bytes", func(r *row) any { return r.State }},
		{"heals", func(r *row) any { return r.Heals }},
		{"pause_ms", func(r *row) any { return r.Pause.Median }},
		{"pause_q1", func(r *row) any { return r.Pause.Low }},
		{"pause_q3", func(r *row) any { return r.Pause.High }},
		{"until_healed_ms", func(r *row) any { return r.Until.Median }},
		{"until_q1", func(r *row) any { return r.Until.Low }},
		{"until_q3", func(r *row) any { return r.Until.High }},
	}
}()
