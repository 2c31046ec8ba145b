package binding

const (
	postAsserts  = ModeNocheck | ModeNostore | ModeNoput
	startAsserts = ModeNocheck
)

// membersOf are the ranks of a window that are in a group.
func (p *Process) membersOf(function string, w *window, h Group, assert, known int32) (ranks []int, code Code) {
	g := p.group(h)
	if g == nil {
		return nil, p.noGroup(function, h)
	}
	if assert&^known != 0 {
		return nil, p.fail(&w.communicator, function, ErrAssert, "the assertion is %d", assert)
	}
	for i, r := range p.inside(&w.communicator, g.ranks) {
		rank := -1
		if r >= 0 {
			rank = w.comm.Local(r)
		}
		if rank < 0 {
			return nil, p.fail(&w.communicator, function, ErrGroup, "rank %d of the group isn't in the window", i)
		}
		ranks = append(ranks, rank)
	}
	return ranks, Success
}

// WinPost is MPI_Win_post.
func (p *Process) WinPost(group Group, assert int32, win Win) Code {
	const function = "MPI_Win_post"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	ranks, code := p.membersOf(function, w, group, assert, postAsserts)
	if code != Success {
		return code
	}
	if err := w.rma.Post(ranks); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	w.rma.NamePost(uint64(group))
	return Success
}

// WinStart is MPI_Win_start. It waits for MPI_Win_post, whatever is asserted: so what was posted
// is counted.
func (p *Process) WinStart(group Group, assert int32, win Win) Code {
	const function = "MPI_Win_start"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	ranks, code := p.membersOf(function, w, group, assert, startAsserts)
	if code != Success {
		return code
	}
	if err := w.rma.Start(ranks); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	w.rma.NameStart(uint64(group))
	return Success
}

// WinComplete is MPI_Win_complete.
func (p *Process) WinComplete(win Win) Code {
	const function = "MPI_Win_complete"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if err := w.rma.Complete(); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// WinWait is MPI_Win_wait.
func (p *Process) WinWait(win Win) Code {
	const function = "MPI_Win_wait"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if err := w.rma.Wait(); err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// WinTest is MPI_Win_test.
func (p *Process) WinTest(win Win, flag *int32) Code {
	const function = "MPI_Win_test"
	w := p.window(win)
	if w == nil {
		return p.noWin(function, win)
	}
	if flag == nil {
		return p.fail(&w.communicator, function, ErrArg, "the argument for the result is NULL")
	}
	done, err := w.rma.Test()
	*flag = truth(done)
	if err != nil {
		return p.failWith(&w.communicator, function, err)
	}
	return Success
}

// NudgeWindow wakes the members of a window that may sleep: C has told one of them something.
func (p *Process) NudgeWindow(win Win) {
	if w := p.window(win); w != nil {
		w.memory.Nudge()
	}
}

// forgetGroup has C forget a group that is freed.
func (p *Process) forgetGroup(group Group) {
	for _, h := range p.wins.live() {
		if w := p.wins.get(h); w != nil {
			w.rma.ForgetGroup(uint64(group))
		}
	}
}
