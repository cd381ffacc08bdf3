import ArgumentParser
import CommandLineSupport
import LinuxSupport
import Netlink
import NetworkDiagnostics
import NetworkReachability

/// `reachability list`: prints the interfaces.
struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the interfaces, addresses and default routes.",
        discussion: """
            Examples: reachability list
                      reachability list --json | jq '.interfaces[] | {name, state}'
            Exit status: 0 printed, 64 usage error, 69 cannot query the kernel, 74 output
            error, 77 no permission.

            The output is text, or with --json one JSON object on one line.
            """
    )

    @Flag(help: "Print text, or JSON.")
    var format: ListFormat = .table

    @Flag(help: "Print again at each change, on a terminal in place.")
    var watch = false

    @OptionGroup var namespaceOptions: NamespaceOptions

    func run() throws {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = try namespaceOptions.namespace
        let inspector = try NetworkInspector(options: options)
        let output = ListOutput(
            isTable: format == .table,
            redraws: watch && StandardOutput.isTerminal,
            namespace: namespaceOptions.name
        )
        if watch { return follow(inspector, output) }
        do {
            output.write(try inspector.interfaces())
        } catch {
            throw ExitMessage("\(error)", .unavailable)
        }
    }

    private func follow(_ inspector: NetworkInspector, _ output: ListOutput) {
        var signals = Signals(reloads: false)
        StandardOutput.exitWhenReaderCloses()
        let watch = inspector.watchInterfaces { result in
            switch result {
            case .success(let interfaces): output.write(interfaces)
            // A deleted namespace may be created again.
            case .failure(let error): StandardError.report("\(error)")
            }
        }
        signals.waitForEnd { StandardError.report("\(inspector.statistics)") }
        watch.cancel()
    }
}

/// The output format of `list`.
enum ListFormat: EnumerableFlag {
    case table
    case json

    static func name(for value: ListFormat) -> NameSpecification {
        switch value {
        case .table: [.long, .customLong("no-json")]
        case .json: .long
        }
    }
}

/// Prints interfaces in the selected format.
struct ListOutput: Sendable {
    let isTable: Bool
    /// Whether each table replaces the previous one.
    let redraws: Bool
    /// The name of the network namespace; nil for the current one.
    let namespace: String?

    func write(_ interfaces: [InterfaceDetails]) {
        guard isTable else {
            StandardOutput.write(json(interfaces))
            return
        }
        let table = ListTable(interfaces, isColoured: StandardOutput.wantsColour).text
        // Moves the cursor to the upper left corner, and clears the screen.
        StandardOutput.write(Array(((redraws ? "\u{1b}[H\u{1b}[J" : "") + table).utf8))
    }

    /// Returns a JSON object of schema 1. Keys may be added; none is renamed or removed.
    private func json(_ interfaces: [InterfaceDetails]) -> [UInt8] {
        var line = JSONObject(at: Timestamp())
        line.add("namespace", namespace)
        line.add("interfaces", interfaces.map(JSONObject.init))
        line.add("kind", "interfaces")
        return line.bytes
    }
}

extension JSONObject {
    fileprivate init(_ details: InterfaceDetails) {
        self.init()
        add("index", details.interface.index)
        add("name", details.interface.name)
        add("type", details.interface.type.rawValue)
        add("kind", details.kind)
        add(
            "underlyingInterfaces",
            details.interface.underlying.map { lower in
                var object = JSONObject()
                object.add("name", lower.name)
                object.add("type", lower.type.rawValue)
                return object
            }
        )
        add("state", details.state.rawValue)
        add("carrier", details.hasCarrier)
        add("mtu", details.mtu)
        add("expensive", details.isExpensive)
        add("addresses", details.addresses.map(JSONObject.init))
        add("defaultRoutes", details.defaultRoutes.map(JSONObject.init))
    }

    private init(_ address: InterfaceDetails.Address) {
        self.init()
        add("address", address.address.description)
        add("prefixLength", address.prefixLength)
        add("marks", address.marks)
    }

    private init(_ route: InterfaceDetails.DefaultRoute) {
        self.init()
        add("family", route.isIPv6 ? "IPv6" : "IPv4")
        add("gateway", route.gateway?.description)
        add("metric", route.metric)
        add("table", route.table)
    }
}

/// Interfaces as text: one line per interface, followed by one line each for its lower interfaces, addresses and default routes. All lines
/// fit 80 columns.
struct ListTable {
    private static let heads = ["INDEX", "NAME", "TYPE", "STATE"]
    private static let stateColumn = 3
    /// The indentation of the lines below an interface.
    private static let margin = "    "

    private let interfaces: [InterfaceDetails]
    private let isColoured: Bool

    init(_ interfaces: [InterfaceDetails], isColoured: Bool) {
        self.interfaces = interfaces
        self.isColoured = isColoured
    }

    /// The lines, without a newline at the end.
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
            // Numbers are aligned to the right.
            if column == 0 { return room + cell }
            return column == Self.stateColumn ? cell.coloured(isColoured ? details?.state.colour : nil) : cell + room
        }.joined(separator: "  ")
    }

    private static func cells(of details: InterfaceDetails) -> [String] {
        let interface = details.interface
        return ["\(interface.index)", interface.name.printable, interface.type.rawValue, details.state.text]
    }

    /// Returns the phrases of the lines below an interface.
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

    /// Wraps a line below an interface. Continuation lines have twice the margin.
    private static func folded(_ phrases: [String]) -> [String] {
        Lines.wrapped([margin + phrases[0]] + phrases.dropFirst(), indentation: margin + margin)
    }
}

extension InterfaceDetails.State {
    fileprivate var text: String { self == .noCarrier ? "no carrier" : rawValue }

    fileprivate var colour: Colour {
        switch self {
        case .up: .green
        case .dormant: .yellow
        case .noCarrier, .down: .red
        }
    }
}

extension InterfaceDetails.DefaultRoute {
    /// The route in phrases, for example `default via 192.0.2.1`, `metric 100`. The family is named if the gateway does not show it, and
    /// the table if it is not `main`.
    fileprivate var phrases: [String] {
        let family = gateway?.isIPv6 == isIPv6 ? "" : isIPv6 ? " IPv6" : " IPv4"
        let phrases = ["default\(family) \(gateway.map { "via \($0)" } ?? "on link")", "metric \(metric)"]
        return table == 254 ? phrases : phrases + ["table \(table)"]
    }
}
