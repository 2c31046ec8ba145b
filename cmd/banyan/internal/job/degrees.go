package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// degrees returns the replicas of each of so many ranks, by --replicas and --replicate. If all
// ranks have the same number, each is nil and all is that number.
func degrees(replicas, replicate string, ranks int) (each []int, all int, err error) {
	if strings.ContainsAny(replicas, ":,") {
		if replicate != "" {
			return nil, 0, fmt.Errorf("--replicas %s says of which ranks already: --replicate can't say so, too", replicas)
		}
		each = slices.Repeat([]int{1}, max(ranks, 0))
		seen := make([]bool, len(each))
		for _, field := range strings.Split(replicas, ",") {
			list, number, ok := strings.Cut(field, ":")
			n, err := strconv.Atoi(number)
			if !ok || err != nil {
				return nil, 0, fmt.Errorf("--replicas %s: %q: want RANKS:NUMBER, such as 0-3:2", replicas, field)
			}
			if err := eachOf(list, seen, func(rank int) { each[rank] = n }); err != nil {
				return nil, 0, fmt.Errorf("--replicas %s: %w", replicas, err)
			}
		}
		return each, 0, nil
	}
	n, err := strconv.Atoi(replicas)
	if err != nil {
		return nil, 0, fmt.Errorf("--replicas %s: want a number, or RANKS:NUMBER with commas between, such as 0-3:2,7:3", replicas)
	}
	if replicate == "" {
		return nil, n, nil
	}
	if n == 1 {
		return nil, 0, fmt.Errorf("--replicate %s names ranks, and --replicas doesn't say how many processes each has", replicate)
	}
	each = slices.Repeat([]int{1}, max(ranks, 0))
	seen := make([]bool, len(each))
	for _, list := range strings.Split(replicate, ",") {
		if err := eachOf(list, seen, func(rank int) { each[rank] = n }); err != nil {
			return nil, 0, fmt.Errorf("--replicate %s: %w", replicate, err)
		}
	}
	return each, 0, nil
}

// eachOf calls f for each rank in a text such as 3 or 0-3.
func eachOf(text string, seen []bool, f func(rank int)) error {
	first, last, several := strings.Cut(text, "-")
	from, err := strconv.Atoi(first)
	to := from
	if err == nil && several {
		to, err = strconv.Atoi(last)
	}
	if err != nil || from < 0 || to < from {
		return fmt.Errorf("%q: want a rank, or several such as 0-3", text)
	}
	if to >= len(seen) {
		return fmt.Errorf("%q: rank %d is not among 0…%d", text, to, len(seen)-1)
	}
	for rank := from; rank <= to; rank++ {
		if seen[rank] {
			return fmt.Errorf("rank %d is named twice", rank)
		}
		seen[rank] = true
		f(rank)
	}
	return nil
}
