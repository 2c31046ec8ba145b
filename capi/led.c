#include "led.h"

int banyan_led;
