// One evaluation and one line of output: the cost of a single query without any other work.
#include "lookup.h"

int main(void) {
    struct path path = evaluate(open_netlink(0), 1);
    print_path(&path);
    return path.reachable ? 0 : 1;
}
