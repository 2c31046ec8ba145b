// The compiler's arithmetic, for the test to compare with: reads operands as raw bytes from the
// standard input, writes results to the standard output. The argument names the format.
#include <stdio.h>
#include <string.h>

#define SERVE(type, bytes)                                                     \
	do {                                                                   \
		unsigned char in[2 * 16], out[3 * 16 + 1];                     \
		while (fread(in, 1, sizeof in, stdin) == sizeof in) {          \
			volatile type x = 0, y = 0, sum, product;              \
			memcpy((void *)&x, in, bytes);                         \
			memcpy((void *)&y, in + 16, bytes);                    \
			sum = x + y;                                           \
			product = x * y;                                       \
			__float128 wide = x;                                   \
			memset(out, 0, sizeof out);                            \
			memcpy(out, (void *)&sum, bytes);                      \
			memcpy(out + 16, (void *)&product, bytes);             \
			memcpy(out + 32, &wide, 16);                           \
			out[48] = (x < y) | (x == y) << 1 | (x > y) << 2;      \
			fwrite(out, 1, sizeof out, stdout);                    \
		}                                                              \
	} while (0)

int main(int argc, char **argv)
{
	(void)argc;
	switch (argv[1][0]) {
	case 'x':
		SERVE(long double, 10);
		break;
	case 'q':
		SERVE(__float128, 16);
		break;
	case 'h':
		SERVE(_Float16, 2);
		break;
	}
	return 0;
}
