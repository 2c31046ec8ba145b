package starter

import (
	"context"
	"time"
)

// relayLimit is how long a head whose agent has ended waits for the commands of its branch.
const relayLimit = 3 * time.Second

// relay starts the agents of the branch. What it can't start in one attempt it leaves to whatever
// has ordered it. end waits for them: until they have ended, or if this host's agent is done, not
// for long.
func (f *follower) relay(ctx context.Context) (end func(done bool)) {
	if len(f.Branch) == 0 {
		return func(bool) {}
	}
	ctx, cancel := context.WithCancel(ctx)
	order := f.Order
	order.Agents, order.Branch = nil, nil
	crew := &Crew{How: f.How, Self: f.Self, Order: order, Key: f.key, Agents: f.Branch, attempts: 1,
		Ready: func(n int) { f.out.say(word{Kind: ready, Number: n}) },
		Lost:  func(n int, why error) { f.out.say(word{Kind: failed, Number: n, Text: why.Error()}) },
		Line:  func(n int, text string) { f.out.say(word{Kind: line, Number: n, Text: text}) },
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		crew.Run(ctx)
	}()
	return func(done bool) {
		defer cancel()
		if done {
			defer time.AfterFunc(relayLimit, cancel).Stop()
		}
		<-ended
	}
}
