// signals.h: the program's signal handlers beside the Go runtime's; see signals.c.
#ifndef BANYAN_SIGNALS_H
#define BANYAN_SIGNALS_H

#pragma GCC visibility push(hidden)

// banyan_adopt_handlers makes all handlers of the program run on the alternative stack.
void banyan_adopt_handlers(void);

// banyan_sigaction_is_ours says whether the program's calls of sigaction come to this library.
int banyan_sigaction_is_ours(void);

// banyan_signals_in_child gives a child of fork the shared signals back.
void banyan_signals_in_child(void);

#pragma GCC visibility pop

#endif
