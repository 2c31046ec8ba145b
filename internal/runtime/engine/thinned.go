package engine

import (
	"banyan/internal/proto"
	"banyan/internal/proto/thinning"
	"banyan/internal/runtime/process"
)

// ArrivedOfLost is how many messages have arrived of ranks that are lost; see
// process.Process.ArrivedOfLost.
func (e *Engine) ArrivedOfLost() (n uint64) {
	e.tell(func(p *process.Process) { n = p.ArrivedOfLost() })
	return n
}

// Thin says which processes stay, by rank; see process.Process.Thin.
func (e *Engine) Thin(stay []proto.Proc) { e.tell(func(p *process.Process) { p.Thin(stay) }) }

// Claimed says what others claim of this process's rank; see process.Process.Claimed.
func (e *Engine) Claimed(debts []thinning.Debt) {
	e.tell(func(p *process.Process) { p.Claimed(debts) })
}

// Show has the losses of ranks show to the program of a job with replicas. Collectives that are
// agreements end without a result: these are made anew, or have ended elsewhere.
func (e *Engine) Show(results []thinning.Result) {
	e.tell(func(p *process.Process) {
		p.Show(results)
		for _, s := range e.running.schedules {
			for ; s != nil; s = s.behind {
				if s.Agreement != nil {
					s.fail(process.ErrAnew)
				}
			}
		}
		e.runSchedules()
	})
}

// Masked prepares an agreement in a job that hides deaths; see process.Process.MaskedAgreement.
func (e *Engine) Masked(context uint64, a *process.Agreement, data []byte, combine func(into, from []byte), strict bool, result []byte) (h Handle, collective bool) {
	e.lock()
	defer e.mu.Unlock()
	return e.p.MaskedAgreement(context, a, data, combine, strict, result)
}
