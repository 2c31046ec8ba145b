// typesize.h has what C knows of datatypes: see typesize.go.
#ifndef BANYAN_TYPESIZE_H
#define BANYAN_TYPESIZE_H

#pragma GCC visibility push(hidden)

// banyan_type_size is the bytes of each predefined type, by its handle from 0x200 on; 0 is no
// type, or a question for Go.
extern unsigned char banyan_type_size[256];

#pragma GCC visibility pop

#endif
