import CommandLineSupport
import LinuxSupport
import NetworkReachability
import ReachabilityChecks
import ServerTrust

extension CheckOptions {
    /// - Throws: An error if the value of an option is invalid.
    init(_ arguments: CheckArguments) throws {
        self.init()
        networkNamespace = try arguments.namespaceOptions.namespace
        interface = arguments.interface
        firewallMark = arguments.mark?.value ?? 0
        family = arguments.family.map { $0 == "4" ? .ipv4 : .ipv6 }
        sourceAddress = try arguments.source.map { try Self.address($0, "--source") }
        timeLimit = try arguments.timeout.value
        guard timeLimit > .zero, timeLimit <= .seconds(60) else {
            throw ExitMessage("--timeout takes more than 0 and at most 60s", .usage)
        }
        anchors = try arguments.active.anchors.map { try Anchor($0) }
        portalAPI = try arguments.portalApi.map { try Anchor($0) }
        policy = try arguments.policy.map { try TrustPolicyFile(path: $0) }
        if !arguments.servers.isEmpty {
            nameServers = try arguments.servers.map { try Self.address($0, "--dns") }
        }
        for text in arguments.active.resolutions {
            let (name, address) = try Self.pair(text, "--resolve")
            resolutions[name, default: []].append(address)
        }
        for text in arguments.expectations {
            let (name, address) = try Self.pair(text, "--expect-address")
            expectedAddresses[name, default: []].insert(address)
        }
    }

    private static func address(_ text: String, _ option: String) throws -> IPAddress {
        guard let address = IPAddress(text) else {
            throw ExitMessage(
                "\"\(text.printable)\" is not an address for \(option); write 192.0.2.1 or 2001:db8::1",
                .usage
            )
        }
        if address.zone != nil, !address.isIPv6 || !address.isLinkLocal {
            throw ExitMessage(
                "\"\(text.printable)\" is not an address for \(option); only link-local IPv6 addresses have an interface",
                .usage
            )
        }
        if address.zone == nil, address.isIPv6, address.isLinkLocal {
            throw ExitMessage(
                "\"\(text.printable)\" for \(option) needs an interface; write \(text.printable)%eth0, for example",
                .usage
            )
        }
        return address
    }

    private static func pair(_ text: String, _ option: String) throws -> (String, IPAddress) {
        let parts = text.split(at: "=", maxSplits: 1)
        guard parts.count == 2, let target = try? CheckTarget(String(parts[0])), let name = target.name,
            target.decisive == nil, IPAddress(String(parts[1])) != nil
        else {
            throw ExitMessage(
                "\"\(text.printable)\" is not a name and an address for \(option); write \(option) example.org=192.0.2.1",
                .usage
            )
        }
        return (name, try address(String(parts[1]), option))
    }
}
