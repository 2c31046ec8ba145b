// Package splitmix has the mixing function of the generator SplitMix64 (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", OOPSLA 2014): a bijection of 64-bit numbers
// in which every bit of the result depends on every bit of the argument.
//
// It makes hashes of small numbers, and seeds that have nothing in common. Its results are part of
// simulated outcomes and of digests that processes exchange, so it never changes. It is no
// cryptographic hash: the argument can be computed from the result.
package splitmix

// Gamma is the increment of SplitMix64: 2^64 divided by the golden ratio, made odd.
const Gamma = 0x9e3779b97f4a7c15

// Mix is the number that a SplitMix64 generator in the state x returns next.
func Mix(x uint64) uint64 { return Finalise(x + Gamma) }

// Finalise is Mix without the increment. It maps 0 to 0.
func Finalise(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
