/* The headers of libnl-3 and libnl-route-3. */
#ifndef CNETLINK_SHIM_H
#define CNETLINK_SHIM_H

#include <netinet/in.h> /* before the kernel headers, so that these do not define in6_addr again */

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/object.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/route.h>
#include <netlink/route/rule.h>
#include <netlink/socket.h>

#endif
