/* The compiled loops of this package, as one library without Python in it: each file once for every processor, and on
 * x86-64 once more, with names that end in _avx2, for processors with AVX2.
 *
 * Both give the same bits. No operation may be reordered or contracted (-ffp-contract=off, never -ffast-math): compilers
 * choose the order by where arrays lie in memory, so that threads would change bits.
 *
 * Callers check types, shapes and indices. Arrays are contiguous, and overlap nowhere.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __FAST_MATH__
#error "compile without -ffast-math: results would depend on the processor"
#endif

#define HELPER static inline __attribute__((always_inline))

#define LOOP(type, name) type name
#include "token_kernels.c"
#include "neighbor_kernels.c"
#include "layout_kernels.c"

/* Return the hash of these files: the loader compares it. */
const char *hash_of_source(void) { return SOURCE_HASH; }

#ifdef __x86_64__

#include <cpuid.h>

#undef LOOP
#define LOOP(type, name) __attribute__((target("avx2"))) type name##_avx2
#include "token_kernels.c"
#include "neighbor_kernels.c"
#include "layout_kernels.c"

/* Tell whether the processor has AVX2, and the operating system saves its registers. */
int has_avx2(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    if ((a & 6) != 6)
        return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}

#else

int has_avx2(void) { return 0; }

#endif
