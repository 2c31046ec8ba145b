package env

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/layout"
)

// FormatReplicas is the value of Replicas for ranks with these numbers of replicas: one number if
// they are all the same. There must be a rank.
func FormatReplicas(degrees []int) string {
	if slices.Min(degrees) == slices.Max(degrees) {
		return strconv.Itoa(degrees[0])
	}
	texts := make([]string, len(degrees))
	for i, d := range degrees {
		texts[i] = strconv.Itoa(d)
	}
	return strings.Join(texts, ",")
}

// ReadReplicas reads Replicas: each is the number of replicas of each rank, or nil if all ranks
// have the same number, which is all.
func ReadReplicas() (all int, each []int, err error) {
	text := os.Getenv(Replicas)
	if !strings.Contains(text, ",") {
		all, err = Positive(Replicas, 1)
		return all, nil, err
	}
	for field := range strings.SplitSeq(text, ",") {
		degree, err := strconv.Atoi(field)
		if err != nil || degree < 1 || degree > layout.MaxDegree {
			return 0, nil, fmt.Errorf("%s=%.100q: want numbers from 1 to %d with commas between, not %.20q", Replicas, text, layout.MaxDegree, field)
		}
		each = append(each, degree)
	}
	return 0, each, nil
}
