package binding

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

func TestGatherAndScatter(t *testing.T) {
	everyForm(t, func(t *testing.T, p *Process, n, me int, out, in form) {
		var total []int32
		for r := range n {
			total = append(total, given(r, 0, block)...)
		}
		for root := range int32(n) {
			for _, inPlace := range []bool{false, true} {
				isRoot := me == int(root)
				var recv []int32
				send := out.memory(given(me, 0, block), block)
				sendbuf := ints(send)
				if inPlace && isRoot {
					sendbuf = InPlace
				}
				name := fmt.Sprintf("%d ranks, gather, %s to %s, root %d, in place %v", n, out.name, in.name, root, inPlace)
				allVariants(t, p, name, func() {
					recv = slices.Grow(recv, n*block*in.step+1)[:n*block*in.step+1]
					copy(recv, in.memory(nil, n*block))
					if inPlace {
						for i, v := range given(me, 0, block) {
							recv[(me*block+i)*in.step] = v
						}
					}
				}, func(how string) {
					if isRoot {
						wants(t, how, in.values(t, recv, n*block), total)
					}
				}, func(v Variant) Code {
					return p.Gather(v, sendbuf, block, out.datatype, ints(recv), block, in.datatype, root, CommWorld)
				})

				all := out.memory(total, n*block)
				recv = in.memory(nil, block)
				recvbuf := ints(recv)
				if inPlace && isRoot {
					recvbuf = InPlace
				}
				allVariants(t, p, "scatter"+name[len("gather"):], func() { copy(recv, in.memory(nil, block)) }, func(how string) {
					if recvbuf != InPlace {
						wants(t, how, in.values(t, recv, block), given(me, 0, block))
					}
				}, func(v Variant) Code {
					return p.Scatter(v, ints(all), block, out.datatype, recvbuf, block, in.datatype, root, CommWorld)
				})
			}
		}
	})
}

// ragged are blocks of r elements for rank r, in reverse order of ranks with a hole
// of one element after each.
func ragged(n int) (counts, displs []int32, room int) {
	for r := range n {
		counts = append(counts, int32(r))
	}
	displs = make([]int32, n)
	for r := n - 1; r >= 0; r-- {
		displs[r] = int32(room)
		room += r + 1
	}
	return counts, displs, room
}

func TestRaggedBlocks(t *testing.T) {
	everyForm(t, func(t *testing.T, p *Process, n, me int, out, in form) {
		counts, displs, room := ragged(n)
		want := slices.Repeat([]int32{gap}, room)
		for r := range n {
			copy(want[displs[r]:], given(r, 0, r))
		}
		send := out.memory(given(me, 0, me), me)
		recv := in.memory(nil, room)
		root := int32(n - 1)
		name := fmt.Sprintf("%d ranks, %s to %s", n, out.name, in.name)
		fresh := func() { copy(recv, in.memory(nil, room)) }
		wide := make([]int64, n)
		for i, d := range displs {
			wide[i] = int64(d)
		}
		atRoot := func(how string) {
			if me == int(root) {
				wants(t, how, in.values(t, recv, room), want)
			}
		}
		for _, d := range []Counts{small(displs...), large(wide...)} {
			allVariants(t, p, "gatherv, "+name, fresh, atRoot, func(v Variant) Code {
				return p.Gatherv(v, ints(send), int64(me), out.datatype, ints(recv), small(counts...), d, in.datatype, root, CommWorld)
			})
		}
		allVariants(t, p, "allgatherv, "+name, fresh, func(how string) {
			wants(t, how, in.values(t, recv, room), want)
		}, func(v Variant) Code {
			return p.Allgatherv(v, ints(send), int64(me), out.datatype, ints(recv), small(counts...), small(displs...), in.datatype, CommWorld)
		})
		allVariants(t, p, "allgatherv in place, "+name, func() {
			fresh()
			for i, v := range given(me, 0, me) {
				recv[(int(displs[me])+i)*in.step] = v
			}
		}, func(how string) { wants(t, how, in.values(t, recv, room), want) }, func(v Variant) Code {
			return p.Allgatherv(v, InPlace, 0, DatatypeNull, ints(recv), small(counts...), small(displs...), in.datatype, CommWorld)
		})
		all, own := out.memory(want, room), in.memory(nil, me)
		allVariants(t, p, "scatterv, "+name, func() { copy(own, in.memory(nil, me)) }, func(how string) {
			wants(t, how, in.values(t, own, me), given(me, 0, me))
		}, func(v Variant) Code {
			return p.Scatterv(v, ints(all), small(counts...), small(displs...), out.datatype, ints(own), int64(me), in.datatype, root, CommWorld)
		})
	})
}

func TestAllgatherAndBcast(t *testing.T) {
	everyForm(t, func(t *testing.T, p *Process, n, me int, out, in form) {
		var total []int32
		for r := range n {
			total = append(total, given(r, 0, block)...)
		}
		send, recv := out.memory(given(me, 0, block), block), in.memory(nil, n*block)
		name := fmt.Sprintf("%d ranks, %s to %s", n, out.name, in.name)
		check := func(how string) { wants(t, how, in.values(t, recv, n*block), total) }
		allVariants(t, p, "allgather, "+name, func() { copy(recv, in.memory(nil, n*block)) }, check, func(v Variant) Code {
			return p.Allgather(v, ints(send), block, out.datatype, ints(recv), block, in.datatype, CommWorld)
		})
		allVariants(t, p, "allgather in place, "+name, func() {
			copy(recv, in.memory(nil, n*block))
			for i, v := range given(me, 0, block) {
				recv[(me*block+i)*in.step] = v
			}
		}, check, func(v Variant) Code {
			return p.Allgather(v, InPlace, 0, DatatypeNull, ints(recv), block, in.datatype, CommWorld)
		})
		for root := range int32(n) {
			form := in
			if me == int(root) {
				form = out
			}
			b := form.memory(nil, block)
			allVariants(t, p, fmt.Sprintf("bcast from %d, %s", root, name), func() {
				copy(b, form.memory(nil, block))
				if me == int(root) {
					copy(b, form.memory(given(me, 5, block), block))
				}
			}, func(how string) { wants(t, how, form.values(t, b, block), given(int(root), 5, block)) }, func(v Variant) Code {
				return p.Bcast(v, ints(b), block, form.datatype, root, CommWorld)
			})
		}
		allVariants(t, p, "barrier", func() {}, func(string) {}, func(v Variant) Code {
			return p.Barrier(v, CommWorld)
		})
	})
}

func TestAlltoalls(t *testing.T) {
	everyForm(t, func(t *testing.T, p *Process, n, me int, out, in form) {
		var mine, want []int32
		for r := range n {
			mine = append(mine, given(me, block*r, block)...)
			want = append(want, given(r, block*me, block)...)
		}
		send, recv := out.memory(mine, n*block), in.memory(nil, n*block)
		name := fmt.Sprintf("%d ranks, %s to %s", n, out.name, in.name)
		fresh := func() { copy(recv, in.memory(nil, n*block)) }
		swapped := func() { copy(recv, in.memory(mine, n*block)) }
		check := func(how string) { wants(t, how, in.values(t, recv, n*block), want) }
		allVariants(t, p, "alltoall, "+name, fresh, check, func(v Variant) Code {
			return p.Alltoall(v, ints(send), block, out.datatype, ints(recv), block, in.datatype, CommWorld)
		})
		allVariants(t, p, "alltoall in place, "+name, swapped, check, func(v Variant) Code {
			return p.Alltoall(v, InPlace, 0, DatatypeNull, ints(recv), block, in.datatype, CommWorld)
		})
		counts, displs := slices.Repeat([]int32{block}, n), make([]int32, n)
		outBytes, inBytes := make([]int32, n), make([]int32, n)
		outTypes, inTypes := slices.Repeat([]Datatype{out.datatype}, n), slices.Repeat([]Datatype{in.datatype}, n)
		for r := range n {
			displs[r] = int32(block * r)
			outBytes[r], inBytes[r] = int32(4*block*r*out.step), int32(4*block*r*in.step)
		}
		allVariants(t, p, "alltoallv, "+name, fresh, check, func(v Variant) Code {
			return p.Alltoallv(v, ints(send), small(counts...), small(displs...), out.datatype, ints(recv), small(counts...), small(displs...), in.datatype, CommWorld)
		})
		allVariants(t, p, "alltoallw, "+name, fresh, check, func(v Variant) Code {
			return p.Alltoallw(v, ints(send), small(counts...), small(outBytes...), &outTypes[0], ints(recv), small(counts...), small(inBytes...), &inTypes[0], CommWorld)
		})
		allVariants(t, p, "alltoallw in place, "+name, swapped, check, func(v Variant) Code {
			return p.Alltoallw(v, InPlace, Counts{}, Counts{}, nil, ints(recv), small(counts...), small(inBytes...), &inTypes[0], CommWorld)
		})
	})
}

// Reductions by a function of the program that isn't commutative, of a type that has to be
// packed. The function gets unpacked data, and the operands in the order of ranks.
func TestReductions(t *testing.T) {
	everyForm(t, func(t *testing.T, p *Process, n, me int, out, in form) {
		if out != in {
			return // a reduction has one type
		}
		// An element is half of a map x → a·x + b modulo 97: two elements make one map.
		var pair Datatype
		ok(t, "TypeContiguous", p.TypeContiguous(2, in.datatype, &pair))
		ok(t, "TypeCommit", p.TypeCommit(&pair))
		step := in.step
		compose := function(reduceFunction(func(inv, inout unsafe.Pointer, count int64, d Datatype) {
			if d != pair {
				t.Errorf("the function gets datatype %#x", d)
			}
			l := unsafe.Slice((*int32)(inv), 2*int(count)*step)
			r := unsafe.Slice((*int32)(inout), 2*int(count)*step)
			for i := 0; i < len(l); i += 2 * step {
				r[i], r[i+step] = l[i]*r[i]%97, (l[i+step]*r[i]+r[i+step])%97
			}
		}))
		var op Op
		ok(t, "OpCreate", p.OpCreate(compose, 0, &op))
		operand := func(r int) []int32 {
			v := make([]int32, 2*block*n)
			for i := range v {
				v[i] = int32((r*7+i*3)%96 + 1)
			}
			return v
		}
		folded := func(from, to int) []int32 {
			acc := operand(from)
			for r := from + 1; r < to; r++ {
				x := operand(r)
				for i := 0; i < len(acc); i += 2 {
					acc[i], acc[i+1] = acc[i]*x[i]%97, (acc[i+1]*x[i]+x[i+1])%97
				}
			}
			return acc
		}
		room := 2 * block * n
		send, recv := in.memory(operand(me), room), in.memory(nil, room)
		name := fmt.Sprintf("%d ranks, %s", n, in.name)
		fresh := func() { copy(recv, in.memory(nil, room)) }
		mine := func() { copy(recv, in.memory(operand(me), room)) }
		full := folded(0, n)
		check := func(want []int32) func(string) {
			return func(how string) { wants(t, how, in.values(t, recv, room), want) }
		}
		allVariants(t, p, "allreduce, "+name, fresh, check(full), func(v Variant) Code {
			return p.Allreduce(v, ints(send), ints(recv), int64(block*n), pair, op, CommWorld)
		})
		allVariants(t, p, "allreduce in place, "+name, mine, check(full), func(v Variant) Code {
			return p.Allreduce(v, InPlace, ints(recv), int64(block*n), pair, op, CommWorld)
		})
		root := n / 2
		atRoot := func(how string) {
			if me == root {
				check(full)(how)
			}
		}
		from := ints(send)
		if me == root {
			from = InPlace
		}
		allVariants(t, p, "reduce, "+name, fresh, atRoot, func(v Variant) Code {
			return p.Reduce(v, ints(send), ints(recv), int64(block*n), pair, op, int32(root), CommWorld)
		})
		allVariants(t, p, "reduce in place, "+name, mine, atRoot, func(v Variant) Code {
			return p.Reduce(v, from, ints(recv), int64(block*n), pair, op, int32(root), CommWorld)
		})
		allVariants(t, p, "scan, "+name, fresh, check(folded(0, me+1)), func(v Variant) Code {
			return p.Scan(v, ints(send), ints(recv), int64(block*n), pair, op, CommWorld)
		})
		allVariants(t, p, "scan in place, "+name, mine, check(folded(0, me+1)), func(v Variant) Code {
			return p.Scan(v, InPlace, ints(recv), int64(block*n), pair, op, CommWorld)
		})
		before := slices.Repeat([]int32{gap}, room)
		if me > 0 {
			before = folded(0, me)
		}
		allVariants(t, p, "exscan, "+name, fresh, check(before), func(v Variant) Code {
			return p.Exscan(v, ints(send), ints(recv), int64(block*n), pair, op, CommWorld)
		})
		part := slices.Repeat([]int32{gap}, room)
		copy(part, full[2*block*me:2*block*(me+1)])
		allVariants(t, p, "reduce_scatter_block, "+name, fresh, check(part), func(v Variant) Code {
			return p.ReduceScatterBlock(v, ints(send), ints(recv), block, pair, op, CommWorld)
		})
		counts := slices.Repeat([]int32{block}, n)
		inPlace := operand(me)
		copy(inPlace, full[2*block*me:2*block*(me+1)])
		allVariants(t, p, "reduce_scatter in place, "+name, mine, func(how string) {
			wants(t, how, in.values(t, recv, room)[:2*block], inPlace[:2*block])
		}, func(v Variant) Code {
			return p.ReduceScatter(v, InPlace, ints(recv), small(counts...), pair, op, CommWorld)
		})
		ok(t, "OpFree", p.OpFree(&op))
	})
}
