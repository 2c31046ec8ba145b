// Package once lets the replicas of a rank do together what must be done once: read and write a
// file, say. One of them, the performer, does it; its siblings learn what came of it.
//
// # The protocol
//
// Each thing to do has a Key. All replicas come to the same ones, since they run the same program.
// The first live replica performs. It tells its siblings the Result, and each sibling tells all
// others that it knows it (Known). A replica goes on (Return) when every live replica of its rank
// knows the result. So what a program does after a write, at any replica, follows a write that
// nobody will do again.
//
// When the performer dies the next replica claims its part: it asks all siblings (Claim). They hear
// nothing of the performer any more, say what they know and this one lacks (Result, then Claimed).
// When all have answered, or are dead, the new performer tells each what that one lacks, and does
// what is left. Its predecessor may have begun that, or even ended it (Perform.Again). For
// a write at an offset that makes no difference: nobody has gone on since.
//
// A replacement takes part from Joined on. From Admit on, before its donor's state is taken, nobody
// returns without it. A donor is Idle then, so the state is who performs after whom.
//
// # What is relied on
//
//   - Frames of one ordered pair of processes arrive in order, each at most once, and all of
//     them unless one of the two dies. Frames of a process that is known dead are dropped.
//   - A process that is taken for dead by mistake is killed. It may still be in the middle of what
//     it performs: so the evidence of a death has to come after its last write.
//   - No Key is ever used twice.
//
// # Invariants
//
//   - No replica returns while a live one doesn't know the result, so nothing that a program has
//     gone on from is performed again.
//   - All replicas return the same result.
//   - A result that has returned here, is forgotten here.
//
// # Limits
//
// The results of light things wait, at a replica whose program is slow, without a bound. Heavy ones
// don't: nobody goes on before that program has come to them.
package once
