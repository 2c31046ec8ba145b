// guest.h is how the Go side sees signals.c.
#ifndef BANYAN_GUEST_H
#define BANYAN_GUEST_H

#pragma GCC visibility push(hidden)

// banyan_adopt_handlers makes every handler of the program run on the alternative stack.
void banyan_adopt_handlers(void);

// banyan_sigaction_is_ours says whether the program's calls of sigaction come to this library.
int banyan_sigaction_is_ours(void);

// banyan_signals_in_child gives a child of fork all its signals back.
void banyan_signals_in_child(void);

// banyan_flush writes out what the program has printed, if no thread is printing.
void banyan_flush(void);

// banyan_flush_all writes out what all of the program's streams hold.
void banyan_flush_all(void);

// banyan_unread is how much stdio has read of the input that the program hasn't taken, -1 if
// nobody can tell.
long long banyan_unread(void);

// banyan_skip takes that many bytes of the input and drops them. It returns those that there weren't, because
// the input ended or can't be read.
long long banyan_skip(long long bytes);

// banyan_due says whether MPIX_Safepoint has anything to do.
void banyan_due(int is);

#pragma GCC visibility pop

#endif
