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

/// The interface and the family that packets use.
struct EgressOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The interface or VRF that packets are bound to.", valueName: "name"),
        completion: .custom { _, _, _ in Self.interfaceNames() }
    )
    var interface: String?

    @Flag(help: "Only IPv4 counts, or only IPv6.")
    var only: FamilyFlag?

    /// The family; nil for both.
    var family: AddressFamily? { only.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

    func apply(to options: inout NetworkReachabilityOptions) {
        options.interface = interface
        options.family = family
    }

    /// Completions of `--interface`.
    static func interfaceNames() -> [String] {
        let inspector = try? NetworkInspector(options: NetworkReachabilityOptions())
        return (try? inspector?.interfaces().map(\.interface.name)) ?? []
    }
}

/// Options that `watch --check` and `wait --works` pass to the check. Hidden, so that the help fits a screen of 24 lines.
struct ActiveOptions: ParsableArguments {
    @Option(
        name: .customLong("anchor"),
        help: ArgumentHelp(
            "A URL of yours that proves the internet; repeatable.",
            valueName: "url",
            visibility: .hidden
        )
    )
    var anchors: [String] = []

    @Option(
        name: .customLong("resolve"),
        help: ArgumentHelp("NAME=ADDRESS: never ask DNS for it; repeatable.", valueName: "pair", visibility: .hidden)
    )
    var resolutions: [String] = []

    var isEmpty: Bool { anchors.isEmpty && resolutions.isEmpty }
}

extension CheckLine {
    mutating func add(_ options: ActiveOptions, servers: [String]) {
        for url in options.anchors { add("--anchor", url) }
        for pair in options.resolutions { add("--resolve", pair) }
        for server in servers { add("--dns", server) }
    }
}

/// Exit statuses of failures: `6,7,28`, `1-9`, or both.
struct ExitStatuses: ExpressibleByArgument {
    private let text: String

    init(argument: String) {
        text = argument
    }

    /// - Throws: ``ExitMessage`` for another text.
    var values: Set<CInt> {
        get throws(ExitMessage) {
            var values: Set<CInt> = []
            for part in text.split(at: ",", omittingEmptySubsequences: false) {
                let ends = part.split(at: "-", omittingEmptySubsequences: false).map(Self.status)
                guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
                    throw ExitMessage(
                        "\"\(text)\" is no list of exit statuses from 1 to 255: write 6,7,28 or 1-9, for example",
                        .usage
                    )
                }
                values.formUnion(first...last)
            }
            return values
        }
    }

    /// 0 is a success, which is not repeated.
    private static func status(_ digits: Substring) -> CInt? {
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = CInt(digits) else { return nil }
        return (1...255).contains(number) ? number : nil
    }
}

/// A number of bytes, as `SizeText` reads it.
struct SizeArgument: ExpressibleByArgument {
    let text: String

    init(argument: String) {
        text = argument
    }

    var defaultValueDescription: String { text }

    /// - Throws: ``ExitMessage`` for another text.
    var bytes: Int {
        get throws {
            guard let bytes = SizeText.bytes(text)
            else { throw ExitMessage("\"\(text)\" is no size: write 500KB, 64MB or 1GiB, for example", .usage) }
            return bytes
        }
    }
}

/// The changes that `record` and `replay` print besides those of the status.
struct ChangeOptions: ParsableArguments {
    @Flag(help: "Also print changes of the flags.")
    var flags = false

    @Flag(help: "Also print changes of interface, gateway and source.")
    var paths = false
}
