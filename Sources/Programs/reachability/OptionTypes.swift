import ArgumentParser
import CommandLineSupport
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// `-4` or `-6`.
enum FamilyFlag: EnumerableFlag {
    case ipv4
    case ipv6

    static func name(for value: FamilyFlag) -> NameSpecification { .customShort(value == .ipv4 ? "4" : "6") }
}

/// The options for the interface and the address family of packets.
struct EgressOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The interface or VRF that packets are bound to.", valueName: "name"),
        completion: .custom { _, _, _ in Self.interfaceNames() }
    )
    var interface: String?

    @Flag(help: "Use only IPv4, or only IPv6.")
    var only: FamilyFlag?

    /// The address family; nil for both.
    var family: AddressFamily? { only.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

    func apply(to options: inout NetworkReachabilityOptions) {
        options.interface = interface
        options.family = family
    }

    /// Returns the completions of `--interface`.
    static func interfaceNames() -> [String] {
        let inspector = try? NetworkInspector(options: NetworkReachabilityOptions())
        return (try? inspector?.interfaces().map(\.interface.name)) ?? []
    }
}

extension CheckLine {
    mutating func add(_ options: ActiveOptions, servers: [String]) {
        for url in options.anchors { add("--anchor", url) }
        for pair in options.resolutions { add("--resolve", pair) }
        for server in servers { add("--dns", server) }
    }
}

/// The exit statuses that `retry` retries: `6,7,28`, `1-9`, or both.
struct ExitStatuses: ExpressibleByArgument {
    private let text: String

    init(argument: String) {
        text = argument
    }

    /// The exit statuses in the list.
    ///
    /// - Throws: ``ExitMessage`` if the text is not such a list.
    var values: Set<CInt> {
        get throws(ExitMessage) {
            var values: Set<CInt> = []
            for part in text.split(at: ",", omittingEmptySubsequences: false) {
                let ends = part.split(at: "-", omittingEmptySubsequences: false).map(Self.status)
                guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
                    throw ExitMessage(
                        "\"\(text)\" is not a list of exit statuses from 1 to 255; write 6,7,28 or 1-9, for example",
                        .usage
                    )
                }
                values.formUnion(first...last)
            }
            return values
        }
    }

    /// Parses a status. 0 is a success, which is never retried.
    private static func status(_ digits: Substring) -> CInt? {
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = CInt(digits) else { return nil }
        return (1...255).contains(number) ? number : nil
    }
}

/// A number of bytes in the notation of `SizeText`.
struct SizeArgument: ExpressibleByArgument {
    let text: String

    init(argument: String) {
        text = argument
    }

    var defaultValueDescription: String { text }

    /// The size in bytes.
    ///
    /// - Throws: ``ExitMessage`` if the text is not a size.
    var bytes: Int {
        get throws {
            guard let bytes = SizeText.bytes(text)
            else { throw ExitMessage("\"\(text)\" is not a size; write 500KB, 64MB or 1GiB, for example", .usage) }
            return bytes
        }
    }
}

/// The changes that `record` and `replay` print in addition to changes of the status.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Also print changes of the flags.")
    var flags = false

    @Flag(help: "Also print changes of interface, gateway and source.")
    var paths = false
}
