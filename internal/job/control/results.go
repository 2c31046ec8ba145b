package control

import "banyan/internal/proto/thinning"

// WithResults are as many messages as it takes to say something with these results: a line is
// limited. All but the last are Opaque.
func WithResults(m Message, results []thinning.Result) (all []Message) {
	// In base64, and with the numbers of each result.
	const bytes, number = maxLine / 2, maxLine / 2 / 100
	for _, part := range thinning.Parts(results, bytes/4*3-maxLine/16, number) {
		m.Results, m.Opaque = part, true
		all = append(all, m)
	}
	all[len(all)-1].Opaque = false
	return all
}
