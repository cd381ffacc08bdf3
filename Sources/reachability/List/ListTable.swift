import Netlink
import NetworkReachability

/// Interfaces as a table for people: an interface with several addresses or default routes has a line for each.
struct ListTable {
    private static let heads = [
        "INDEX", "NAME", "TYPE", "OVER", "STATE", "CARRIER", "EXPENSIVE", "ADDRESSES", "DEFAULT ROUTES",
    ]
    private static let stateColumn = 4

    private struct Row {
        var cells: [String]
        /// The colour of the state as a terminal knows it.
        var colour: String?
    }

    private let rows: [Row]
    private let isColoured: Bool

    init(_ interfaces: [InterfaceDetails], isColoured: Bool) {
        rows = [Row(cells: Self.heads)] + interfaces.flatMap(Self.rows)
        self.isColoured = isColoured
    }

    /// The lines, without a line break at the end.
    var text: String {
        let widths = Self.heads.indices.map { column in rows.map { $0.cells[column].count }.max() ?? 0 }
        return rows.map { row in
            // The last cells that say something need no room behind them.
            let last = row.cells.lastIndex { !$0.isEmpty } ?? 0
            return row.cells[...last].enumerated().map { column, cell in
                let rest = String(repeating: " ", count: column == last ? 0 : widths[column] - cell.count + 2)
                // The index is a number: its digits stand one below the other.
                return column == 0 ? rest.dropLast(2) + cell + "  " : painted(cell, column, row) + rest
            }.joined()
        }.joined(separator: "\n")
    }

    private func painted(_ cell: String, _ column: Int, _ row: Row) -> String {
        guard isColoured, column == Self.stateColumn, let colour = row.colour else { return cell }
        return "\u{1b}[\(colour)m\(cell)\u{1b}[0m"
    }

    private static func rows(of details: InterfaceDetails) -> [Row] {
        let interface = details.interface
        var over = interface.underlying.map(\.name.printable).joined(separator: "/")
        if let last = interface.underlying.last { over += " (\(last.type.rawValue))" }
        let first = [
            "\(interface.index)", interface.name.printable, interface.type.rawValue, over.isEmpty ? "-" : over,
            details.state.text, details.hasCarrier.map { $0 ? "yes" : "no" } ?? "-", details.isExpensive ? "yes" : "no",
        ]
        let addresses = details.addresses.map(\.text)
        let routes = details.defaultRoutes.map(\.text)
        return (0..<max(1, addresses.count, routes.count)).map { line in
            let lists = [addresses, routes].map { line < $0.count ? $0[line] : line == 0 ? "-" : "" }
            let start = line == 0 ? first : Array(repeating: "", count: first.count)
            return Row(cells: start + lists, colour: line == 0 ? details.state.colour : nil)
        }
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

extension InterfaceDetails.Address {
    fileprivate var text: String { (["\(address)/\(prefixLength)"] + marks).joined(separator: " ") }
}

extension InterfaceDetails.DefaultRoute {
    /// For example `via 192.0.2.1 metric 100`; the family where the router does not tell it, and any table but `main`.
    fileprivate var text: String {
        var parts: [String] = []
        if gateway?.isIPv6 != isIPv6 { parts.append(isIPv6 ? "IPv6" : "IPv4") }
        parts.append(gateway.map { "via \($0)" } ?? "on link")
        parts.append("metric \(metric)")
        if table != 254 { parts.append("table \(table)") }
        return parts.joined(separator: " ")
    }
}
