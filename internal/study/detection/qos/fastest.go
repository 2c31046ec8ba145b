package qos

// Fastest keeps one row of each system in each scenario: that in which all live processes know
// soonest of a death, among those whose rate of mistakes is at most the given one with 97.5 %
// confidence, and that missed no death. Systems without such a row are left out.
func Fastest(rows []Row, rate float64) []Row {
	type key struct {
		scene  Scenario
		system System
	}
	best := map[key]int{}
	var kept []Row
	for _, r := range rows {
		if r.Mistakes.High > rate || r.Undetected > 0 || r.All.Count == 0 {
			continue
		}
		k := key{r.Scenario, r.Subject.System}
		i, ok := best[k]
		switch {
		case !ok:
			best[k] = len(kept)
			kept = append(kept, r)
		case r.All.Mean < kept[i].All.Mean:
			kept[i] = r
		}
	}
	return kept
}
