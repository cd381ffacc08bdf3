// One evaluation, one line: what a one-shot costs when nothing but the questions is paid for.
#include "lookup.h"

int main(void) {
    struct path path = evaluate(open_netlink(0), 1);
    print_path(&path);
    return path.reachable ? 0 : 1;
}
