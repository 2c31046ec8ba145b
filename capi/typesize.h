// typesize.h: the sizes of predefined datatypes; see typesize.go.
#ifndef BANYAN_TYPESIZE_H
#define BANYAN_TYPESIZE_H

#pragma GCC visibility push(hidden)

// banyan_type_size is the size of each predefined type in bytes, by its handle from 0x200 on. It
// is 0 for a number that is no type, and while MPI isn't initialised.
extern unsigned char banyan_type_size[256];

#pragma GCC visibility pop

#endif
