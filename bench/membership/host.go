package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"banyan/internal/groupnode"
)

// serve is what a host does: it starts and kills members as it is told on its standard input.
func serve(b *scoreboard) error {
	var mu sync.Mutex
	members := map[int]*groupnode.Member{}
	for in := json.NewDecoder(os.Stdin); ; {
		var o order
		if err := in.Decode(&o); err != nil {
			return fmt.Errorf("orders: %w", err)
		}
		if t := o.Start; t != nil {
			go func() {
				m, err := t.join(context.Background(), b)
				if err != nil {
					fmt.Fprintf(os.Stderr, "member %d: %v\n", t.Row, err)
					recorder{b, t.Row}.Ended(err)
					return
				}
				mu.Lock()
				members[t.Row] = m
				mu.Unlock()
				recorder{b, t.Row}.isUp() // from now on it may be killed
			}()
		}
		mu.Lock()
		for _, row := range o.Kill {
			go members[row].Close()
			delete(members, row)
		}
		mu.Unlock()
	}
}
