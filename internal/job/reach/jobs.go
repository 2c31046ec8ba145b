package reach

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"banyan/internal/job/console"
	"banyan/internal/job/starter"
)

// jobsLimit bounds the wait for the jobs of a host.
const jobsLimit = 20 * time.Second

// Jobs lists the user's jobs on a host.
func Jobs(ctx context.Context, r *console.Reach, host string) ([]console.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, jobsLimit)
	defer cancel()
	argv := starter.How{Words: r.Words}.On(host, r.Self, "jobs", "--raw")
	errs := new(LastWords)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr, cmd.WaitDelay = errs, lingerLimit
	out, err := cmd.Output()
	if text := errs.String(); err != nil && text != "" {
		return nil, fmt.Errorf("%s: %s", host, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", host, err)
	}
	// The login shell may have said something before.
	out = bytes.TrimSpace(out)
	out = out[bytes.LastIndexByte(out, '\n')+1:]
	var all []console.Info
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("%s: what came is no list of jobs: %w", host, err)
	}
	return all, nil
}
