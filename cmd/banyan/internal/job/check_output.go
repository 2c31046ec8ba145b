package job

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"banyan/internal/job/check"
)

// write writes the verdict.
func (v *verdict) write(w io.Writer, f *checkFlags) error {
	if f.format == "json" {
		return v.writeJSON(w, f)
	}
	var s strings.Builder
	seeds := fmt.Sprintf("seed %d", f.seed)
	if v.runs > 1 {
		seeds = fmt.Sprintf("seeds %d to %d", f.seed, v.seed)
	}
	what := fmt.Sprintf("%s, %s, %s; %s compared", inWords(f.ranks, "rank"), inWords(f.replicas, "replica"), seeds, inWords(v.calls, "call"))
	switch {
	case v.findings != nil:
		fmt.Fprintf(&s, "not send-deterministic: found in run %d of %d, with seed %d (%s)\n\n", v.runs, f.runs, v.seed, what)
		fmt.Fprintf(&s, "%v\n", v.findings.Found[0])
		if others := v.findings.Found[1:]; len(others) > 0 {
			s.WriteString("\nlater, perhaps in consequence:")
			for _, d := range others {
				fmt.Fprintf(&s, " rank %d in call %d;", d.Rank, d.Number)
			}
			s.WriteString("\n")
		}
	case v.failure != "":
		fmt.Fprintf(&s, "run %d of %d, with seed %d, came to nothing: %s\nuntil then no rank's replicas differed in what they send (%s)\n", v.runs, f.runs, v.seed, v.failure, what)
		for line := range strings.Lines(v.output) {
			fmt.Fprintf(&s, "  | %s\n", strings.TrimRight(line, "\n"))
		}
	case v.payload != nil:
		fmt.Fprintf(&s, "no difference but of data in what replicas send found in %s (%s)\n", inWords(v.runs, "run"), what)
	default:
		fmt.Fprintf(&s, "no difference in what replicas send found in %s (%s)\n", inWords(v.runs, "run"), what)
	}
	switch {
	case v.findings != nil:
		if first := v.findings.Payload; first != nil && first.Earlier(v.findings.Found[0]) {
			fmt.Fprintf(&s, "\nbefore that the data of a call differed, which may be the cause:\n%v\n", first)
		}
	case v.payload != nil:
		v.writeData(&s, f)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// placesShown is how many places where data differs are listed at most.
const placesShown = 10

// writeData lists where data differs, and nothing else.
func (v *verdict) writeData(s *strings.Builder, f *checkFlags) {
	word := "warning"
	if f.strict {
		word = "failure (--strict)"
	}
	fmt.Fprintf(s, "\n%s: in %s the data differs, and nothing else:\n", word, inWords(v.payloads.Calls(), "call"))
	places := v.payloads.Sorted()
	for _, p := range places[:min(len(places), placesShown)] {
		fmt.Fprintf(s, "%7d of %v\n", v.payloads[p], p)
	}
	if more := len(places) - placesShown; more > 0 {
		fmt.Fprintf(s, "        and in %s more\n", inWords(more, "place"))
	}
	fmt.Fprintf(s, "the first (seed %d):\n%v\n", v.payloadSeed, v.payload)
	s.WriteString("  After a death a receiver may get such data of either replica, so what one message holds twice, and what another\n" +
		"  holds never. That is harmless only if nothing depends on it, as with timers that are summed up.\n")
}

// inWords is a number of things in words.
func inWords(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// The types of the JSON.
type (
	verdictJSON struct {
		Diverged    bool             `json:"diverged"`
		Runs        int              `json:"runs"`
		Ranks       int              `json:"ranks"`
		Replicas    int              `json:"replicas"`
		Seed        uint64           `json:"seed"` // of the first run
		Calls       int              `json:"calls"`
		FoundSeed   *uint64          `json:"found_seed,omitempty"`
		Differences []differenceJSON `json:"differences"` // in control, one for each rank, the first first
		DataDiffers int              `json:"data_differs"`
		DataPlaces  []placeJSON      `json:"data_places,omitempty"` // those with the most calls first
		Data        *differenceJSON  `json:"data,omitempty"`        // the first call that differs in its data only
		Failure     string           `json:"failure,omitempty"`
	}
	placeJSON struct {
		Function string `json:"function"`
		Where    string `json:"where,omitempty"`
		Calls    int    `json:"calls"`
	}
	differenceJSON struct {
		*check.Difference
		Calls [2]eventJSON `json:"calls"`
		Cause *causeJSON   `json:"cause,omitempty"`
	}
	causeJSON struct {
		Number    int          `json:"number"`
		AnySource bool         `json:"any_source"`
		AnyTag    bool         `json:"any_tag"`
		Messages  [2]eventJSON `json:"messages"`
	}
	eventJSON struct {
		End      bool   `json:"end,omitempty"` // no further call
		Function string `json:"function,omitempty"`
		Peer     int32  `json:"peer"`
		Tag      int32  `json:"tag"`
		Context  string `json:"communicator"`
		Bytes    uint64 `json:"bytes"`
		Where    string `json:"where,omitempty"`
	}
)

func (v *verdict) writeJSON(w io.Writer, f *checkFlags) error {
	j := verdictJSON{
		Diverged: v.findings != nil, Runs: v.runs, Ranks: f.ranks, Replicas: f.replicas, Seed: f.seed,
		Calls: v.calls, Differences: []differenceJSON{}, DataDiffers: v.payloads.Calls(), Failure: v.failure,
	}
	if v.findings != nil {
		j.FoundSeed = &v.seed
		for _, d := range v.findings.Found {
			j.Differences = append(j.Differences, jsonOf(d))
		}
	}
	for _, p := range v.payloads.Sorted() {
		j.DataPlaces = append(j.DataPlaces, placeJSON{p.Op, p.Where, v.payloads[p]})
	}
	if v.payload != nil {
		j.Data = new(jsonOf(v.payload))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(j)
}

func jsonOf(d *check.Difference) differenceJSON {
	j := differenceJSON{Difference: d, Calls: eventsOf(d.Calls)}
	if c := d.Cause; c != nil {
		a, b := c.Receives[0], c.Receives[1]
		j.Cause = &causeJSON{c.Number, a.AnySource || b.AnySource, a.AnyTag || b.AnyTag, eventsOf(c.Receives)}
	}
	return j
}

func eventsOf(events [2]check.Event) (list [2]eventJSON) {
	for i, e := range events {
		list[i] = eventJSON{
			End: e.Kind == check.End, Function: e.Op, Peer: e.Peer, Tag: e.Tag,
			Context: fmt.Sprintf("%x", e.Context), Bytes: e.Bytes, Where: e.Where,
		}
	}
	return list
}
