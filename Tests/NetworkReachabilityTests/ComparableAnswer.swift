import LinuxSupport
import Netlink

/// A kernel's answer with names in place of indices, and without what differs by chance.
struct ComparableAnswer: CustomStringConvertible {
    private var fields: [String]
    private var nextHops: [String]

    init(_ answer: Result<Route, SystemError>, names: [UInt32: String]) {
        switch answer {
        case .failure(let error):
            fields = ["error \(error)"]
            self.nextHops = []
        case .success(let route):
            fields = [
                "kind \(route.kind.rawValue)", "table \(route.table.map { "\($0)" } ?? "-")", "/\(route.prefixLength)",
                "src \(route.source.map(\.description) ?? "-")", "nhid \(route.nextHopID)",
                "metric \(route.metric)",
                // Two clocks; hundredths of a second on one side.
                route.lifetime == nil ? "for ever" : "ends",
            ]
            self.nextHops = route.nextHops.map { hop in
                "\(names[hop.interface] ?? "?") via \(hop.gateway.map(\.description) ?? "-")"
            }.sorted()
        }
    }

    func agrees(with other: ComparableAnswer) -> Bool {
        fields == other.fields && nextHops == other.nextHops
    }

    var description: String { (fields + nextHops).joined(separator: ", ") }
}
