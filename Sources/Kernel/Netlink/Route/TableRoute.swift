package import LinuxPrimitives

/// A route as it stands in its table, with the destinations it covers.
///
/// C counterpart: `rtmsg` with RTA_DST, `ip-route(8)`.
package struct TableRoute: Hashable, Sendable {
    package let prefix: AddressPrefix
    package let route: Route

    package init(prefix: AddressPrefix, route: Route) {
        self.prefix = prefix
        self.route = route
    }
}
