//go:build !linux || !amd64

package instructions

import (
	"context"
	"errors"
)

func steps(ctx context.Context, pid, n int, ready func() error, each func()) ([]Operation, maps, error) {
	return nil, nil, errors.New("instructions are counted on linux on amd64 only")
}

var errStuck = errors.New("stuck")
