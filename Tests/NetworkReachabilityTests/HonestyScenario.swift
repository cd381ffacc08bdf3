import LinuxSupport
import Netlink
import Testing

/// Changes in their order, after each of which two kernels must agree.
struct HonestyScenario: CustomTestStringConvertible {
    let name: String
    var preparation: [String] = HonestyScenario.defaults
    let commands: [String]
    /// Whether plain lookups are left out: which of several hops they take is a matter of a hash.
    var comparesEntriesOnly = false

    var testDescription: String { name }

    static let addresses = [
        "addr add 10.1.0.2/24 dev c0", "addr add fd01::2/64 dev c0", "addr add 10.2.0.2/24 dev c1",
        "addr add fd02::2/64 dev c1",
    ]

    static let defaults = ["route add default via 10.1.0.1", "route add default via fd01::1"]

    private static let destinations = [
        "1.1.1.1", "10.1.0.1", "10.1.0.99", "10.1.0.2", "10.1.0.255", "10.2.0.7", "10.77.0.10", "127.0.0.1",
        "127.3.2.1",
        "0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.251", "169.254.7.7", "2606:4700:4700::1111", "2001:db8::5",
        "fd01::1", "fd01::99", "fd01::2", "fd02::7", "fd77::10", "::", "::1",
        "9.1.2.3", "10.5.0.2", "10.5.0.7", "fd05::2", "fd05::7", "fe80::ff:fe00:2", "fe80::ff:fe00:3",
    ]

    /// The same questions for every scenario: each destination as it is, as its entry, from sources, with a mark, and
    /// bound to interfaces.
    var queries: [RouteQuery] {
        let all = Self.destinations.compactMap { WireAddress($0) }.flatMap { destination in
            let isIPv4 = destination.family == .ipv4
            let sources = (isIPv4 ? ["10.1.0.2", "10.2.0.2", "9.9.9.9"] : ["fd01::2", "fd02::2"])
                .compactMap { WireAddress($0) }
            var queries = [false, true].map { RouteQuery(destination: destination, wantsEntry: $0) }
            queries += sources.map { RouteQuery(destination: destination, source: $0) }
            queries += [
                RouteQuery(destination: destination, mark: 1), RouteQuery(destination: destination, mark: 51820),
            ]
            for interface: UInt32 in [2, 3] {
                queries += [false, true].map {
                    RouteQuery(destination: destination, outputInterface: interface, wantsEntry: $0)
                }
            }
            return queries
        }
        return comparesEntriesOnly ? all.filter { $0.wantsEntry || $0.outputInterface != nil } : all
    }
}
