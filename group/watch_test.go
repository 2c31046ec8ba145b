package group_test

import (
	"context"
	"fmt"
	"log"
	"testing"
	"time"

	"banyan/group"
)

// Each of several watchers gets all views, in order, beginning with the one in force, until the
// member's end. They take nothing from each other or from Views.
func TestWatch(t *testing.T) {
	anna := join(t, config("anna"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	watch := func() <-chan []uint64 {
		began, all := make(chan struct{}), make(chan []uint64, 1)
		go func() {
			var list []uint64
			for c := range anna.Watch(ctx) {
				if list = append(list, c.View.Number); len(list) == 1 {
					close(began)
				}
				if c.Missed > 0 {
					t.Errorf("view %d: %d missed", c.View.Number, c.Missed)
				}
			}
			all <- list
		}()
		<-began
		return all
	}
	first := watch()
	join(t, config("bert", anna.Self().Address))
	await(t, anna, "two", func(v *group.View) bool { return len(v.Members) == 2 })
	second := watch()
	join(t, config("carl", anna.Self().Address))
	await(t, anna, "three", func(v *group.View) bool { return len(v.Members) == 3 })
	anna.Close()
	if got := fmt.Sprint(<-first, <-second); got != "[1 2 3] [2 3]" {
		t.Errorf("watchers got %s", got)
	}
	for range anna.Watch(ctx) { // the last view, and then the loop ends
	}
}

// A loop over changes ends with its context, and with a break.
func TestWatchEnds(t *testing.T) {
	anna := join(t, config("anna"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range anna.Watch(ctx) {
		n++
		cancel()
	}
	for range anna.Watch(ctx) {
		t.Error("a change after the end of the context")
	}
	for range anna.Watch(t.Context()) {
		n++
		break
	}
	if n != 2 {
		t.Errorf("%d changes", n)
	}
}

// A program watches its group: who came, who left, who died.
func ExampleMember_Watch() {
	ctx := context.Background()
	secret := []byte("known to the members only")
	anna, err := group.Join(ctx, group.Config{Name: "anna", Secret: secret})
	if err != nil {
		log.Fatal(err)
	}
	defer anna.Close()
	go func() {
		bert, err := group.Join(ctx, group.Config{Name: "bert", Secret: secret, Seeds: []string{anna.Self().Address}})
		if err == nil {
			bert.Leave(ctx)
			bert.Close()
		}
	}()
	for c := range anna.Watch(ctx) {
		fmt.Println("joined", c.View.Joined, "left", c.View.Left, "missed", c.Missed)
		if len(c.View.Left) > 0 {
			break
		}
	}
	// Output:
	// joined [anna.1] left [] missed 0
	// joined [bert.2] left [] missed 0
	// joined [] left [bert.2] missed 0
}
