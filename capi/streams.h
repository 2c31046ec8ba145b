// streams.h: the program's streams of stdio.
#ifndef BANYAN_STREAMS_H
#define BANYAN_STREAMS_H

#pragma GCC visibility push(hidden)

// banyan_flush writes out what the program has printed, if no thread is printing.
void banyan_flush(void);

// banyan_flush_all writes out the buffers of all streams of the program.
void banyan_flush_all(void);

// banyan_unread is the number of bytes of standard input that stdio has read and the program
// hasn't taken, or -1 if that can't be known.
long long banyan_unread(void);

// banyan_skip reads that many bytes of standard input and drops them. It returns the number of
// bytes that were missing, because the input ended or can't be read.
long long banyan_skip(long long bytes);

#pragma GCC visibility pop

#endif
