// The lower bound of the cost without a filter: receives every notification and reads only its type and prefix length.
#include "count.h"

int main(void) { count_for_ever(open_events(0)); }
