// The floor without a filter: receives every notification and looks at its type and prefix length alone.
#include "count.h"

int main(void) { count_for_ever(open_events(0)); }
