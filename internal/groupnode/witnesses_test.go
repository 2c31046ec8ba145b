package groupnode

import (
	"testing"

	"banyan/internal/proto/membership"
)

// A member is heard by the most senior members of its own host, and not by those of others: only
// the word of the former is certain.
func TestWitnesses(t *testing.T) {
	for _, x := range []struct{ n, hosts, want int }{{5, 1, 5}, {16, 1, 8}, {17, 1, 4}, {48, 3, 8}, {60, 3, 4}, {4, 4, 1}} {
		v := membership.FirstView(x.n)
		m := &Member{self: v.Members[x.n-1], cards: map[membership.Member]Card{}}
		for i, who := range v.Members {
			m.cards[who] = Card{Home: home{byte(1 + i%x.hosts)}}
		}
		m.card = m.cards[m.self]
		for more := range 2 {
			list := m.witnesses(v, more)
			if all := (x.n + x.hosts - 1 - (x.n-1)%x.hosts) / x.hosts; len(list) != min(x.want+more, all) {
				t.Errorf("%d members on %d hosts: %d witnesses, want %d and %d more, of %d", x.n, x.hosts, len(list), x.want, more, all)
			}
			for i, who := range list {
				if m.cards[who].Home != m.card.Home || i > 0 && who.Proc <= list[i-1].Proc {
					t.Errorf("%d members on %d hosts: witnesses %v", x.n, x.hosts, list)
				}
			}
		}
	}
}
