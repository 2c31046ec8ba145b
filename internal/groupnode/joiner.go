package groupnode

import (
	"context"
	"errors"
	"fmt"
	"time"

	"banyan/internal/runtime/handshake"
)

// maxRedirects is how often a joiner follows a redirection before it pauses.
const maxRedirects = 4

// joiner asks to be let into a group. It asks the seeds, one after the other, and the members that
// they name, until this member is in a view. It also asks again some time after a welcome: the
// coordinator may have died.
type joiner struct {
	*Member
	address   string // to ask next; "": the next seed's
	seeds     int    // how many seeds' addresses were taken
	redirects int    // since the last seed
	strangers int    // how many in a row didn't know the secret
	last      error  // of the last attempt that failed
}

// run returns nil when this member is in a view.
func (j *joiner) run(ctx context.Context) error {
	ctx, cancel := j.untilAdmitted(ctx)
	defer cancel()
	for {
		j.chooseAddress()
		wait := j.cfg.Period / 2
		if j.address != "" && ctx.Err() == nil {
			var err error
			if wait, err = j.ask(ctx); err != nil {
				return err
			}
		}
		if over, err := j.await(ctx, wait); over {
			return err
		}
	}
}

// untilAdmitted makes a context that also ends with this member, and with its admission.
func (j *joiner) untilAdmitted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(j.ctx, cancel)
	go func() {
		select {
		case <-j.admitted:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { stop(); cancel() }
}

// chooseAddress takes the next seed's address, unless there is an address to ask.
func (j *joiner) chooseAddress() {
	if seeds := j.cfg.Seeds; j.address == "" && len(seeds) > 0 {
		j.address = seeds[j.seeds%len(seeds)]
		j.seeds, j.redirects = j.seeds+1, 0
	}
}

// ask makes one attempt. It returns the pause before the next one, or an error if there should be
// none.
func (j *joiner) ask(ctx context.Context) (time.Duration, error) {
	conn, _, a, err := j.dial(ctx, j.address, &hello{purpose: toJoin, group: j.cfg.Group, settings: j.cfg.settings(), card: j.card})
	if err != nil {
		return j.cfg.Period / 2, j.noAnswer(ctx, err)
	}
	if a.verdict == welcome {
		conn.Close()
	}
	j.strangers = 0
	return j.follow(a)
}

// noAnswer notes an attempt without an answer. It returns an error if all seeds, twice in a row,
// didn't know the secret.
func (j *joiner) noAnswer(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		j.last = fmt.Errorf("%s: %w", j.address, err)
	}
	j.address = ""
	if !errors.Is(err, handshake.ErrStranger) {
		j.strangers = 0
		return nil
	}
	if j.strangers++; j.strangers >= 2*len(j.cfg.Seeds) {
		return fmt.Errorf("%w: %s", ErrSecret, j.last)
	}
	return nil
}

// follow does what an answer says. Its results are ask's.
func (j *joiner) follow(a *answer) (time.Duration, error) {
	wait := j.cfg.Period / 2
	switch a.verdict {
	case welcome:
		wait = j.cfg.Timeout
	case redirect:
		j.address = a.text
		if j.redirects++; j.redirects < maxRedirects {
			wait = 0
		}
	case later:
		if a.text != "" {
			j.last = errors.New(a.text)
		}
		j.address = "" // this one may not be a member itself
	case refused:
		return 0, fmt.Errorf("%w by %s: %s", ErrRefused, j.address, a.text)
	case nameInUse:
		return 0, fmt.Errorf("%w: %s is at %s", ErrNameInUse, j.card.Name, a.text)
	}
	return wait, nil
}

// await waits for the end of a pause. It says whether joining is over, and how.
func (j *joiner) await(ctx context.Context, pause time.Duration) (over bool, err error) {
	select {
	case <-j.admitted:
		return true, nil
	case <-j.over:
		return true, j.Err()
	case <-time.After(pause):
		return false, nil
	case <-ctx.Done():
	}
	select {
	case <-j.admitted:
		return true, nil
	default:
	}
	if j.last != nil {
		return true, fmt.Errorf("join: %w; %w", ctx.Err(), j.last)
	}
	return true, fmt.Errorf("join: %w", ctx.Err())
}
