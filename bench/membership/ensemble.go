package membership

import (
	"context"
	"crypto/rand"
	"fmt"
	"os/exec"
	"sync"

	"banyan/bench/processes"
	"banyan/internal/gathering"
)

// ensemble starts and kills members. Rows of the board tell them apart.
type ensemble interface {
	start(t task) error
	// kill ends members at once, together, without a word.
	kill(rows []int) error
	close()
	// fail adds what is known to an error.
	fail(what string) error
}

func newSecret() []byte {
	b := make([]byte, gathering.MinSecret)
	rand.Read(b)
	return b
}

// apart is an ensemble of processes.
type apart struct {
	group   *processes.Group
	board   *board
	running map[int]*exec.Cmd
}

func newApart(again []string, b *board) (*apart, error) {
	g, err := processes.NewGroup(again)
	return &apart{g, b, map[int]*exec.Cmd{}}, err
}

func (a *apart) start(t task) error {
	c, err := a.group.Start(processes.Process{
		Name: fmt.Sprintf("member %d", t.Row), MayEnd: true, Ended: func() { recorder{a.board, t.Row}.Ended(nil) },
		// There are more members than processors: they should not look for work on several each.
		Env: []string{t.env(), "GOMAXPROCS=1"},
	})
	a.running[t.Row] = c
	return err
}

func (a *apart) kill(rows []int) error {
	for _, row := range rows {
		if err := a.running[row].Process.Kill(); err != nil {
			return fmt.Errorf("killing member %d: %w", row, err)
		}
		delete(a.running, row)
	}
	return nil
}

func (a *apart) close() { a.group.Close() }

func (a *apart) fail(what string) error { return a.group.Err(what) }

// together is an ensemble of goroutines of this process.
type together struct {
	ctx   context.Context
	end   context.CancelFunc
	board *board

	mu      sync.Mutex
	running map[int]*gathering.Member
	failure error
	waits   sync.WaitGroup
}

func newTogether(ctx context.Context, b *board) *together {
	ctx, end := context.WithCancel(ctx)
	return &together{ctx: ctx, end: end, board: b, running: map[int]*gathering.Member{}}
}

func (a *together) start(t task) error {
	a.waits.Go(func() {
		m, err := t.join(a.ctx, a.board)
		a.mu.Lock()
		defer a.mu.Unlock()
		if err != nil {
			if a.failure == nil {
				a.failure = fmt.Errorf("member %d: %w", t.Row, err)
			}
			return
		}
		a.running[t.Row] = m
		recorder{a.board, t.Row}.isUp()
		if a.ctx.Err() != nil { // close hasn't seen it
			a.waits.Go(m.Close)
		}
	})
	return nil
}

func (a *together) kill(rows []int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, row := range rows {
		m := a.running[row]
		if m == nil {
			return fmt.Errorf("member %d isn't there to be killed", row)
		}
		delete(a.running, row)
		a.waits.Go(m.Close)
	}
	return nil
}

func (a *together) close() {
	a.end()
	a.mu.Lock()
	for _, m := range a.running {
		a.waits.Go(m.Close)
	}
	a.mu.Unlock()
	a.waits.Wait()
}

func (a *together) fail(what string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failure != nil {
		return fmt.Errorf("%s: %w", what, a.failure)
	}
	return fmt.Errorf("%s", what)
}
