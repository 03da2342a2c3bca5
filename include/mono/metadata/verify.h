/* Mono's name for a part of the embedding API. */
#include <vervet/embedding.h>
