package env

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// Positive reads a positive number; it is otherwise if the variable isn't set.
func Positive(name string, otherwise int) (int, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%q must be a positive number", name, text)
	}
	return n, nil
}

// ReadSpareRanks reads SpareRanks, in a job of so many ranks.
func ReadSpareRanks(ranks int) (int, error) {
	n, err := Positive(SpareRanks, 0)
	if err == nil && n >= ranks {
		err = fmt.Errorf("%s=%d: there are %d ranks", SpareRanks, n, ranks)
	}
	return n, err
}

// ReadAlone reads Alone.
func ReadAlone() (bool, error) {
	text := os.Getenv(Alone)
	if text == "" {
		return false, nil
	}
	is, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s=%q must be 1 or 0", Alone, text)
	}
	return is, nil
}

// ReadLeased reads Leased; it is 0 if no leases decide.
func ReadLeased() (time.Duration, error) { return duration(Leased, 0) }

// duration reads a positive duration; it is otherwise if the variable isn't set.
func duration(name string, otherwise time.Duration) (time.Duration, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s=%q must be a positive duration such as 100ms", name, text)
	}
	return d, nil
}
