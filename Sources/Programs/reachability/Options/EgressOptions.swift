import ArgumentParser
import LinuxSupport
import NetworkDiagnostics
import NetworkReachability

/// `-4` or `-6`.
enum FamilyFlag: EnumerableFlag {
    case ipv4
    case ipv6

    static func name(for value: FamilyFlag) -> NameSpecification { .customShort(value == .ipv4 ? "4" : "6") }
}

/// Which egress counts: over one interface, in one family.
struct EgressOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The interface or VRF that packets are bound to.", valueName: "name"),
        completion: .custom { _, _, _ in Self.interfaceNames() }
    )
    var interface: String?

    @Flag(help: "Only IPv4 counts, or only IPv6.")
    var only: FamilyFlag?

    /// The family that is meant; nil for both.
    var family: AddressFamily? { only.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

    func apply(to options: inout NetworkReachabilityOptions) {
        options.interface = interface
        options.family = family
    }

    /// The same for a command that has none of them.
    static var any: EgressOptions {
        var options = EgressOptions()
        options.interface = nil
        options.only = nil
        return options
    }

    /// What may follow `--interface`.
    static func interfaceNames() -> [String] {
        let inspector = try? NetworkInspector(options: NetworkReachabilityOptions())
        return (try? inspector?.interfaces().map(\.interface.name)) ?? []
    }
}
