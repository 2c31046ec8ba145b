#include "native.h"

int banyan_led;
