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

// replicated are the settings with replicas.
var replicated = []replication.Setting{replication.Parallel, replication.Mirror, replication.Verified}

var pingPongColumns = func() []column[replication.PingPong] {
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
		{"parallel_us", us(replication.Parallel)},
		{"mirror_us", us(replication.Mirror)},
		{"verified_us", us(replication.Verified)},
	}
	for _, s := range replicated {
		columns = append(columns, overheadColumns(s.String(), func(r *row) peers.Spread { return r.Ratios[s] })...)
	}
	return append(columns,
		column[row]{"beside_mb_s", rate(replication.Beside)},
		column[row]{"parallel_mb_s", rate(replication.Parallel)},
		column[row]{"mirror_mb_s", rate(replication.Mirror)})
}()

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

var applicationColumns = func() []column[replication.Run] {
	type row = replication.Run
	seconds := func(s replication.Setting) func(*row) any {
		return func(r *row) any { return known(r.Times[s].Median) }
	}
	columns := []column[row]{
		{"application", func(r *row) any { return r.Name }},
		{"ranks", func(r *row) any { return r.Ranks }},
		{"replicas", func(r *row) any { return r.Replicas }},
		{"beside_s", seconds(replication.Beside)},
		{"parallel_s", seconds(replication.Parallel)},
		{"mirror_s", seconds(replication.Mirror)},
		{"verified_s", seconds(replication.Verified)},
	}
	for _, s := range replicated {
		columns = append(columns,
			column[row]{s.String() + "_%", func(r *row) any { return overhead(r.Ratios[s].Median) }},
			column[row]{s.String() + "_from", func(r *row) any { return overhead(r.Certain[s].From) }},
			column[row]{s.String() + "_to", func(r *row) any { return overhead(r.Certain[s].To) }})
	}
	return columns
}()

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
