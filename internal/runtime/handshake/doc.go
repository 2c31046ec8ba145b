// Package handshake begins each connection between the processes of a job, between the members of a
// group, and between a job's spares and its processes. Both sides prove that they know a shared
// secret without showing it, agree on a version, and give each other one payload. If what follows
// is to be sealed (package seal), they also agree on keys (agreement.go). The package also limits
// how many connections may be waiting for that proof ([Gate]), makes one attempt to reach a
// listener ([Protocol.Connect]) and paces several ([Backoff]). It doesn't interpret payloads: a
// [Protocol] is a name, a magic number, a range of versions and the payloads' sizes. [Meeting] is
// the one use that lives here, because it shares a protocol with the links of a job's processes
// ([Job]).
//
// # The conversation
//
//	dialler                                               acceptor
//	hello      versions, payload, nonce                  →
//	           ←  versions, the one chosen, nonce         challenge
//	proof      HMAC(secret, "dialler", hello, challenge) →
//	           ←  payload, HMAC(secret, "acceptor", hello, challenge, proof, payload)   answer
//
// The MAC is HMAC-SHA-256 over the protocol's name, the prover's role and all bytes said so far
// (RFC 2104; the shape is that of ISO/IEC 9798-4's mutual authentication in three passes, with a
// hello before it). Proofs are compared in constant time. Both nonces are 256 random bits. The
// first twelve bytes of hello and challenge (magic number, lowest and highest version) keep their
// meaning for ever: any two versions can tell each other why they don't talk.
//
// # Invariants
//
//   - The acceptor acts on a hello only after the dialler's proof, and the dialler on an answer
//     only after the acceptor's.
//   - A proof is worth nothing elsewhere. The role stops reflection, the nonces stop replay, the
//     protocol's name stops use in another protocol, and the bytes said so far stop any change of
//     a version or payload on the way.
//   - Before its proof a dialler makes the acceptor read and hold at most the hello, whose size is
//     bounded. It learns the acceptor's versions and a random number.
//
// # What an attacker can do
//
//   - An attacker without the secret that reaches a listener can connect and be silent. The Gate
//     keeps 64 such connections and protects each of them for 200 ms; then one that waits takes the
//     oldest one's place. Their addresses share the places (room.go): one that opens thousands of
//     connections delays only diallers with the same address, which try again, and one at another
//     address has a place at once. An attacker with more than 64 addresses delays all. A connection
//     whose dialler has proved itself is out of the strangers' reach. At a unix socket, processes
//     of other users are refused when they are accepted.
//   - An attacker that a dialler is led to dial gets a proof, and can test guesses of the secret
//     against it alone, as fast as it can compute. So a secret has to be random. [MinSecret]
//     bounds its length; nothing checks its randomness.
//   - An attacker between the two sides can delay or cut a handshake, and reads both payloads: they
//     are authentic, not secret. It can pass the handshake on to another process with the same
//     secret, even to the dialler itself: so a payload has to name its receiver, as those of links
//     and members do. Unless the two agree on keys, the connection that follows is neither
//     encrypted nor authenticated, so this attacker can also read and change what is said on it.
//   - A process that knows the secret is trusted. The handshake doesn't tell two holders of a
//     secret apart; the user of a payload checks as far as it can which process sent it.
//   - An attacker that records a connection and learns the secret later reads it, unless the two
//     sides have agreed on keys: those are gone when their connection has ended.
package handshake
