package env

import "errors"

// ErrLeaderHeals is why a job in leader order doesn't replace dead replicas.
var ErrLeaderHeals = errors.New("leader order can't replace dead replicas yet: run with --order leader and --replicas 3 without --heal, or heal a send-deterministic program with --order free")
