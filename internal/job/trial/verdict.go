package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"banyan/internal/job/check"
)

// Verdict is what all runs together have shown.
type Verdict struct {
	Ranks, Replicas int
	Planned, Runs   int    // how many runs there were to be, and were
	FirstSeed, Seed uint64 // of the first run and of the last
	Calls           int    // compared, and alike in control

	Findings *check.Summary // of the last run, if replicas differ in control; or nil

	// Of payloads, in all runs:
	Payloads    check.Sites
	Payload     *check.Difference // the first, or nil
	PayloadSeed uint64            // of its run
	// Seen says, of sites that a later run looked at, which bytes differ.
	Seen map[check.Site]string

	raw    []check.Site // sites of Payloads, as a run can look at them
	looked int          // how many of them were looked at

	Failure string // why the last run came to nothing; or empty
	Output  string // the end of the job's standard error, then
}

// Diverged tells whether replicas differ in control.
func (v *Verdict) Diverged() bool { return v.Findings != nil }

// look is the site that the next run looks at; the zero Site is none.
func (v *Verdict) look() (at check.Site) {
	if v.looked < len(v.raw) {
		at = v.raw[v.looked]
		v.looked++
	}
	return at
}

// see adds what a run has seen.
func (v *Verdict) see(s *check.Summary) {
	for _, p := range s.Raw {
		if !slices.Contains(v.raw, p) {
			v.raw = append(v.raw, p)
		}
	}
	if v.Seen == nil {
		v.Seen = make(map[check.Site]string)
	}
	maps.Copy(v.Seen, s.Seen)
}

// WriteText writes the verdict for people. If strict is set, data that differs is a failure.
func (v *Verdict) WriteText(w io.Writer, strict bool) error {
	var s strings.Builder
	seeds := fmt.Sprintf("seed %d", v.FirstSeed)
	if v.Runs > 1 {
		seeds = fmt.Sprintf("seeds %d to %d", v.FirstSeed, v.Seed)
	}
	what := fmt.Sprintf("%s, %s, %s; %s compared", inWords(v.Ranks, "rank"), inWords(v.Replicas, "replica"), seeds, inWords(v.Calls, "call"))
	switch {
	case v.Findings != nil:
		fmt.Fprintf(&s, "not send-deterministic: found in run %d of %d, with seed %d (%s)\n\n", v.Runs, v.Planned, v.Seed, what)
		fmt.Fprintf(&s, "%v\n", v.Findings.Found[0])
		if others := v.Findings.Found[1:]; len(others) > 0 {
			s.WriteString("\nlater, perhaps in consequence:")
			for _, d := range others {
				fmt.Fprintf(&s, " rank %d in call %d;", d.Rank, d.Number)
			}
			s.WriteString("\n")
		}
	case v.Failure != "":
		fmt.Fprintf(&s, "run %d of %d, with seed %d, came to nothing: %s\nuntil then no rank's replicas differed in what they send (%s)\n", v.Runs, v.Planned, v.Seed, v.Failure, what)
		for line := range strings.Lines(v.Output) {
			fmt.Fprintf(&s, "  | %s\n", strings.TrimRight(line, "\n"))
		}
	case v.Payload != nil:
		fmt.Fprintf(&s, "no difference but of data in what replicas send found in %s (%s)\n", inWords(v.Runs, "run"), what)
	default:
		fmt.Fprintf(&s, "no difference in what replicas send found in %s (%s)\n", inWords(v.Runs, "run"), what)
	}
	switch {
	case v.Findings != nil:
		if first := v.Findings.Payload; first != nil && first.Earlier(v.Findings.Found[0]) {
			fmt.Fprintf(&s, "\nbefore that the data of a call differed, which may be the cause:\n%v\n", first)
		}
	case v.Payload != nil:
		v.writeData(&s, strict)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// placesShown is how many places where data differs are listed at most.
const placesShown = 10

// writeData lists where data differs, and nothing else.
func (v *Verdict) writeData(s *strings.Builder, strict bool) {
	word := "warning"
	if strict {
		word = "failure (--strict)"
	}
	fmt.Fprintf(s, "\n%s: in %s the data differs, and nothing else:\n", word, inWords(v.Payloads.Calls(), "call"))
	places := v.Payloads.Sorted()
	for _, p := range places[:min(len(places), placesShown)] {
		fmt.Fprintf(s, "%7d of %v\n", v.Payloads[p], p)
		if seen := v.Seen[p]; seen != "" {
			fmt.Fprintf(s, "          %s\n", seen)
		}
	}
	if more := len(places) - placesShown; more > 0 {
		fmt.Fprintf(s, "        and in %s more\n", inWords(more, "place"))
	}
	fmt.Fprintf(s, "the first (seed %d):\n%v\n", v.PayloadSeed, v.Payload)
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
		Bytes    string `json:"bytes,omitempty"` // which ones differ, for people
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

// WriteJSON writes the verdict as one JSON object.
func (v *Verdict) WriteJSON(w io.Writer) error {
	j := verdictJSON{
		Diverged: v.Diverged(), Runs: v.Runs, Ranks: v.Ranks, Replicas: v.Replicas, Seed: v.FirstSeed,
		Calls: v.Calls, Differences: []differenceJSON{}, DataDiffers: v.Payloads.Calls(), Failure: v.Failure,
	}
	if v.Findings != nil {
		j.FoundSeed = &v.Seed
		for _, d := range v.Findings.Found {
			j.Differences = append(j.Differences, jsonOf(d))
		}
	}
	for _, p := range v.Payloads.Sorted() {
		j.DataPlaces = append(j.DataPlaces, placeJSON{p.Op, p.Where, v.Payloads[p], v.Seen[p]})
	}
	if v.Payload != nil {
		j.Data = new(jsonOf(v.Payload))
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
