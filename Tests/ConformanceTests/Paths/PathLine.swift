import NetworkReachability

/// All that tests compare of a path, in one line that reads the same in every world. For example
/// `-R ------- c0 via 10.1.0.1 from 10.1.0.2 table 254 mtu 1500 for 46`, or `-- ------- noCarrier c0`.
struct PathLine: Hashable, CustomStringConvertible {
    let description: String

    init(_ path: NetworkPath) {
        var words = [path.flags?.readableDescription ?? "unknown"]
        if let reason = path.reason { words.append(reason.rawValue) }
        if let interface = path.interface { words.append(interface.description) }
        if let gateway = path.gateway { words.append("via \(gateway)") }
        if let source = path.source { words.append("from \(source)") }
        if let table = path.table { words.append("table \(table)") }
        if let mtu = path.mtu { words.append("mtu \(mtu)") }
        let families = (path.supportsIPv4 ? "4" : "") + (path.supportsIPv6 ? "6" : "")
        if !families.isEmpty { words.append("for \(families)") }
        description = words.joined(separator: " ")
    }

    /// - Parameter text: what is expected; whatever follows a `*` at its end is not compared.
    init(_ text: String) {
        description = text
    }

    /// The flags alone.
    var flags: String { description.split(separator: " ").prefix(2).joined(separator: " ") }

    func matches(_ expected: PathLine) -> Bool {
        guard expected.description.hasSuffix("*") else { return self == expected }
        return description.hasPrefix(expected.description.dropLast())
    }
}
