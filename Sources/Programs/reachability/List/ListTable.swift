import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// Interfaces for people: a line for each, and under it what it runs over, its addresses and its default routes, one on a line. So it
/// fits 80 columns however many there are of them.
struct ListTable {
    private static let heads = ["INDEX", "NAME", "TYPE", "STATE"]
    private static let stateColumn = 3
    /// What stands under an interface begins a little to the right of it.
    private static let margin = "    "
    private static let width = 80

    private let interfaces: [InterfaceDetails]
    private let isColoured: Bool

    init(_ interfaces: [InterfaceDetails], isColoured: Bool) {
        self.interfaces = interfaces
        self.isColoured = isColoured
    }

    /// The lines, without a line break at the end.
    var text: String {
        let rows = [Self.heads] + interfaces.map(Self.cells)
        let widths = Self.heads.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.enumerated().flatMap { index, cells in
            let details: InterfaceDetails? = index == 0 ? nil : interfaces[index - 1]
            return [line(cells, widths, details)] + (details.map(Self.rest) ?? []).flatMap(Self.folded)
        }.joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int], _ details: InterfaceDetails?) -> String {
        cells.enumerated().map { column, cell in
            let room = String(repeating: " ", count: widths[column] - cell.count)
            // The index is a number: its digits stand one below the other.
            if column == 0 { return room + cell }
            return column == Self.stateColumn ? painted(cell, details) : cell + room
        }.joined(separator: "  ")
    }

    private func painted(_ cell: String, _ details: InterfaceDetails?) -> String {
        guard isColoured, let details else { return cell }
        return "\u{1b}[\(details.state.colour)m\(cell)\u{1b}[0m"
    }

    private static func cells(of details: InterfaceDetails) -> [String] {
        let interface = details.interface
        return ["\(interface.index)", interface.name.printable, interface.type.rawValue, details.state.text]
    }

    /// What stands under an interface: of each line the phrases, which are not torn apart.
    private static func rest(of details: InterfaceDetails) -> [[String]] {
        let underlying = details.interface.underlying
        var lines: [[String]] = []
        if let last = underlying.last {
            lines.append(["over \(underlying.map(\.name.printable).joined(separator: "/")) (\(last.type.rawValue))"])
        }
        if details.isExpensive { lines.append(["expensive"]) }
        lines += details.addresses.map { ["address \($0.address)/\($0.prefixLength)"] + $0.marks }
        return lines + details.defaultRoutes.map(\.phrases)
    }

    /// With the margin, and in more than one line where it is too long for one: those that follow begin farther to the right.
    private static func folded(_ phrases: [String]) -> [String] {
        var (lines, line) = ([String](), margin + phrases[0])
        for phrase in phrases.dropFirst() {
            if line.count + 1 + phrase.count <= width {
                line += " " + phrase
            } else {
                lines.append(line)
                line = margin + margin + phrase
            }
        }
        return lines + [line]
    }
}

extension InterfaceDetails.State {
    fileprivate var text: String { self == .noCarrier ? "no carrier" : rawValue }

    fileprivate var colour: String {
        switch self {
        case .up: "32"
        case .dormant: "33"
        case .noCarrier, .down: "31"
        }
    }
}

extension InterfaceDetails.DefaultRoute {
    /// For example `default via 192.0.2.1`, `metric 100`; the family where the router does not tell it, and any table but `main`.
    fileprivate var phrases: [String] {
        let family = gateway?.isIPv6 == isIPv6 ? "" : isIPv6 ? " IPv6" : " IPv4"
        let phrases = ["default\(family) \(gateway.map { "via \($0)" } ?? "on link")", "metric \(metric)"]
        return table == 254 ? phrases : phrases + ["table \(table)"]
    }
}
