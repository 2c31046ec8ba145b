package env

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"banyan/internal/proto"
)

// dead follows the incarnation of a process that is dead, in Incarnations.
const dead = "d"

// FormatIncarnations is the value of Incarnations: the incarnation of each process in order, with
// commas between. A "d" follows that of a process that is dead.
func FormatIncarnations(incarnations []proto.Incarnation, gone []bool) string {
	texts := make([]string, len(incarnations))
	for i, incarnation := range incarnations {
		texts[i] = strconv.FormatUint(uint64(incarnation), 10)
		if gone[i] {
			texts[i] += dead
		}
	}
	return strings.Join(texts, ",")
}

// ReadIncarnations reads Incarnations in a job of so many processes. It returns nil if this
// process isn't a replacement.
func ReadIncarnations(procs int) (incarnations []proto.Incarnation, gone []bool, err error) {
	text := os.Getenv(Incarnations)
	if text == "" {
		return nil, nil, nil
	}
	for field := range strings.SplitSeq(text, ",") {
		number, isGone := strings.CutSuffix(field, dead)
		incarnation, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			return nil, nil, fmt.Errorf("%s=%.100q: %.20q is no incarnation", Incarnations, text, field)
		}
		incarnations, gone = append(incarnations, proto.Incarnation(incarnation)), append(gone, isGone)
	}
	if len(incarnations) != procs {
		return nil, nil, fmt.Errorf("%s=%.100q: %d processes, in a job of %d", Incarnations, text, len(incarnations), procs)
	}
	return incarnations, gone, nil
}
