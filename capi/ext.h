// ext.h: the C side of mpi-ext.h, as Go sees it.
#ifndef BANYAN_EXT_H
#define BANYAN_EXT_H

#pragma GCC visibility push(hidden)

// banyan_due says whether MPIX_Safepoint has anything to do.
void banyan_due(int is);

#pragma GCC visibility pop

#endif
