package group_test

import (
	"context"
	"fmt"
	"log"

	"banyan/group"
)

// One process founds a group, another one joins it and leaves. Here both are one process; usually
// the addresses are those of different hosts.
func Example() {
	ctx := context.Background()
	secret := []byte("known to the members only")
	anna, err := group.Join(ctx, group.Config{Name: "anna", Secret: secret})
	if err != nil {
		log.Fatal(err)
	}
	defer anna.Close()
	bert, err := group.Join(ctx, group.Config{Name: "bert", Secret: secret, Seeds: []string{anna.Self().Address}})
	if err != nil {
		log.Fatal(err)
	}
	if err := bert.Leave(ctx); err != nil {
		log.Fatal(err)
	}
	bert.Close()

	for v := range anna.Views() {
		fmt.Printf("view %d: %v, joined %v, left %v, died %v\n", v.Number, v.Members, v.Joined, v.Left, v.Died)
		if len(v.Left) > 0 {
			break
		}
	}
	// Output:
	// view 1: [anna.1], joined [anna.1], left [], died []
	// view 2: [anna.1 bert.2], joined [bert.2], left [], died []
	// view 3: [anna.1], joined [], left [bert.2], died []
}

// What a member says of itself comes with views: here that it takes no new work.
func ExampleMember_SetMetadata() {
	ctx := context.Background()
	secret := []byte("known to the members only")
	anna, err := group.Join(ctx, group.Config{Name: "anna", Secret: secret, Metadata: "role=store"})
	if err != nil {
		log.Fatal(err)
	}
	defer anna.Close()
	if err := anna.SetMetadata("role=store draining"); err != nil {
		log.Fatal(err)
	}
	for v := range anna.Views() {
		fmt.Printf("view %d: anna says %q\n", v.Number, v.MetadataOf("anna"))
		if v.Number == 2 {
			break
		}
	}
	// Output:
	// view 1: anna says "role=store"
	// view 2: anna says "role=store draining"
}
