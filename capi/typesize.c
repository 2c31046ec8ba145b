#include "typesize.h"

unsigned char banyan_type_size[256];
