package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Setting is how a job is run.
type Setting struct {
	Transport string `json:"transport"`
	Replicas  int    `json:"replicas"`
}

// Row is what was measured of one pattern in one setting.
type Row struct {
	Setting
	Sample
	// Quartiles of the rounds; the median is Sample's Nanoseconds.
	Low  float64 `json:"low"`  // first quartile
	High float64 `json:"high"` // third quartile
	// Ratio is the median against that of the same transport with one replica.
	Ratio float64 `json:"ratio"`
	// Peer is the median against that of PeerTransport, where it has the
	// pattern.
	Peer float64 `json:"peer"`
	// Floor is the median against that of FloorTransport, where it has the
	// pattern.
	Floor float64 `json:"floor"`
	// MBs is the bandwidth in 10^6 bytes a second, 0 where there is no data.
	MBs float64 `json:"mb_s"`
}

// Run measures every setting in so many rounds. job runs one job of n ranks in a setting and
// returns rank 0's samples; round is called before each round.
func Run(settings []Setting, rounds int, job func(s Setting, ranks int) ([]Sample, error), round func(i int)) ([]Row, error) {
	var counts []int
	for _, p := range Patterns {
		if !slices.Contains(counts, p.Ranks) {
			counts = append(counts, p.Ranks)
		}
	}
	type key struct {
		s       Setting
		pattern string
		ranks   int
		size    int
	}
	times, last, order := map[key][]float64{}, map[key]Sample{}, []key(nil)
	for i := range rounds {
		round(i)
		for _, n := range counts {
			for _, s := range settings {
				samples, err := job(s, n)
				if err != nil {
					return nil, fmt.Errorf("%d ranks over %s with %d replicas: %w", n, s.Transport, s.Replicas, err)
				}
				for _, x := range samples {
					k := key{s, x.Pattern, x.Ranks, x.Size}
					if times[k] == nil {
						order = append(order, k)
					}
					times[k] = append(times[k], x.Nanoseconds)
					last[k] = x
				}
			}
		}
	}
	var rows []Row
	medians := map[key]float64{}
	for _, k := range order {
		t := times[k]
		slices.Sort(t)
		r := Row{Setting: k.s, Sample: last[k], Low: quantile(t, 0.25), High: quantile(t, 0.75)}
		r.Nanoseconds = quantile(t, 0.5)
		medians[k] = r.Nanoseconds
		if r.Size > 0 {
			r.MBs = float64(r.Size) / r.Nanoseconds * 1e3
		}
		rows = append(rows, r)
	}
	for i := range rows {
		r := &rows[i]
		one := key{Setting{r.Transport, 1}, r.Pattern, r.Ranks, r.Size}
		if base := medians[one]; base > 0 {
			r.Ratio = r.Nanoseconds / base
		}
		peer := key{Setting{PeerTransport, 1}, r.Pattern, r.Ranks, r.Size}
		if base := medians[peer]; base > 0 {
			r.Peer = r.Nanoseconds / base
		}
		floor := key{Setting{FloorTransport, 1}, r.Pattern, r.Ranks, r.Size}
		if base := medians[floor]; base > 0 {
			r.Floor = r.Nanoseconds / base
		}
	}
	return rows, nil
}

// quantile interpolates in a sorted list.
func quantile(sorted []float64, q float64) float64 {
	x := q * float64(len(sorted)-1)
	i := int(x)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (x-float64(i))*(sorted[i+1]-sorted[i])
}

// WriteTable prints rows for people.
func WriteTable(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "pattern\tranks\tbytes\ttransport\treplicas\tmedian µs\tquartiles µs\tMB/s\tagainst 1 replica\tagainst net.Conn\tagainst a cache line\tallocs/op\t")
	for _, r := range rows {
		bandwidth, ratio, peer, floor := "", "", "", ""
		if r.MBs > 0 {
			bandwidth = fmt.Sprintf("%.0f", r.MBs)
		}
		if r.Ratio > 0 && r.Replicas > 1 {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		if r.Peer > 0 && r.Transport != PeerTransport {
			peer = fmt.Sprintf("%.2f", r.Peer)
		}
		if r.Floor > 0 && r.Transport != FloorTransport {
			floor = fmt.Sprintf("%.2f", r.Floor)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%d\t%.2f\t%.2f–%.2f\t%s\t%s\t%s\t%s\t%.2f\t\n", r.Pattern, r.Ranks, r.Size,
			r.Transport, r.Replicas, r.Nanoseconds/1e3, r.Low/1e3, r.High/1e3, bandwidth, ratio, peer, floor, r.Allocs)
	}
	return t.Flush()
}

// WriteCSV prints rows for programs.
func WriteCSV(w io.Writer, rows []Row) error {
	fmt.Fprintln(w, "pattern,ranks,bytes,transport,replicas,median_ns,q1_ns,q3_ns,mb_per_s,ratio_to_1_replica,ratio_to_net_conn,ratio_to_cache_line,allocs_per_op")
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%s,%d,%d,%s,%d,%.1f,%.1f,%.1f,%.1f,%.3f,%.3f,%.3f,%.3f\n", r.Pattern, r.Ranks, r.Size,
			r.Transport, r.Replicas, r.Nanoseconds, r.Low, r.High, r.MBs, r.Ratio, r.Peer, r.Floor, r.Allocs); err != nil {
			return err
		}
	}
	return nil
}
