import NetworkLab

/// A machine at home, its router, the provider, and the internet. The router translates IPv4 addresses, but not IPv6 addresses.
///
///     pc p0 192.168.1.2 3fff:1::2 - r0 192.168.1.1 fe80::1 router r1 100.70.9.1 3fff:9::1
///       - v0 100.70.9.2 3fff:9::2 provider v1 - i0 internet: name servers, anchors, the addresses at large
///                                          v2 - h0 host 203.0.113.80 3fff:4::80
///
/// Each station has a table `inet lab` with empty chains prerouting, input, forward and output. The router has chains with the same names
/// in `ip nat` and `ip6 nat`. Plain packets are sent from separate addresses, 192.168.1.3 and 3fff:1::3, which the router translates to a
/// separate address too. Routers limit the errors to each address, and the program under test needs them.
final class World: Sendable {
    let line: Line
    private let stations: [Station: LabNamespace]

    init(_ line: Line, _ steps: [Step] = []) throws {
        self.line = line
        stations = try Dictionary(uniqueKeysWithValues: Station.allCases.map { ($0, try LabNamespace()) })
        for (station, namespace) in stations {
            for (name, value) in World.settings(of: station, line) { try namespace.sysctl(name, value) }
        }
        try link(.pc, "p0", to: .router, "r0", as: "02:00:00:00:01:01")
        try link(.router, "r1", to: .provider, "v0", as: "02:00:00:00:09:02")
        try link(.provider, "v1", to: .internet, "i0", as: "02:00:00:00:03:02")
        try link(.provider, "v2", to: .host, "h0", as: "02:00:00:00:04:80")
        for station in Station.allCases {
            // The settings of the situation follow last, in the same processes.
            try apply(addresses(of: station) + tables(of: station) + steps.filter { $0.station == station })
        }
    }

    /// The namespace of a station.
    subscript(station: Station) -> LabNamespace {
        guard let namespace = stations[station] else { preconditionFailure("every station has a namespace") }
        return namespace
    }

    /// Removes the world. A second call has no effect.
    func close() {
        for namespace in stations.values { namespace.close() }
    }

    /// Applies steps in as few processes as possible: for each station first parameters, then links, then tables.
    func apply(_ steps: [Step]) throws {
        let known = steps.filter { $0.family == nil || line.families.contains($0.family ?? .ipv4) }
        for station in Station.allCases {
            let mine = known.filter { $0.station == station }.map(\.command)
            let commands = mine.compactMap { if case .ip(let text) = $0 { text } else { nil } }
            let rules = mine.compactMap { if case .nft(let text) = $0 { text } else { nil } }
            try self[station].ip(commands.map { $0.replacing("@spare", with: self[.spare].path) })
            if !rules.isEmpty { try nft(station, rules.joined(separator: "\n")) }
            // Parameters of an interface exist only now.
            for case .sysctl(let name, let value) in mine { try self[station].sysctl(name, value) }
            for case .shell(let text) in mine { _ = try self[station].run("bash", ["-c", text]) }
        }
    }

    private func nft(_ station: Station, _ script: String) throws {
        let result = try self[station].run(World.nft, ["-f", "-"], input: script + "\n")
        guard result.status == 0 else { throw LabError("nft \(script): \(result.errors)") }
    }

    /// Returns the values of all counters of a station, in packets.
    func counters(of station: Station) throws -> [String: Int] {
        let result = try self[station].run(World.nft, ["list", "counters"])
        var counters: [String: Int] = [:]
        var name: Substring?
        for line in result.output.split(separator: "\n") {
            let words = line.split(separator: " ").map { $0.drop { $0 == "\t" } }
            if words.first == "counter" { name = words.dropFirst().first }
            if words.first == "packets", let key = name {
                counters[String(key)] = words.dropFirst().first.flatMap { Int($0) }
            }
        }
        return counters
    }

    /// Returns the destinations to which packets were forwarded although they should get none.
    func strangers() throws -> [String] {
        try ["forbidden4", "forbidden6"].flatMap { set in
            let result = try self[.provider].run(World.nft, ["list", "set", "inet", "count", set])
            let elements = result.output.split(separator: "elements = {").dropFirst().first?.split(separator: "}").first
            return elements.map { [$0.filter { !$0.isWhitespace }] } ?? []
        }
    }

    private func link(_ near: Station, _ name: String, to far: Station, _ farName: String, as address: String) throws {
        let ends = "link add \(name) type veth peer name \(farName) address \(address) netns \(self[far].path)"
        try self[near].ip(ends)
    }
}
