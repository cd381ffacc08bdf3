import Foundation
import Glibc
import NetworkLab
import TrustForge
import WebLab

/// A machine, its gateway and a provider with a DNS server, for continuous checks. The internet is the host 203.0.113.7.
final class CheckedLine: Sendable {
    let pc: LabNamespace
    let gateway: LabNamespace
    let provider: LabNamespace
    private let row: LabRow
    private let names: NameServer
    /// The directory with the root certificate of the lab's web servers.
    private let directory: TrustForge.ScratchDirectory
    private let roots: String

    static let world = "203.0.113.7"

    private init() throws {
        row = try .toProvider(isPatient: false)
        (pc, gateway, provider) = (row.stations[0], row.stations[1], row.stations[2])
        try gateway.sysctl("net.ipv6.conf.g0.keep_addr_on_down", "1")
        names = try NameServer(in: provider, at: [Self.world], zone: ["anchor.example": [Self.world]])
        directory = TrustForge.ScratchDirectory()
        roots = try WebAuthority.write(to: directory)
    }

    static func make() async throws -> CheckedLine { try await LabThread.detached { try CheckedLine() } }

    func close() async {
        let names = names
        _ = try? await LabThread.detached { names.stop() }
        row.close()
    }

    /// Connects or disconnects the machine's cable.
    func connect(_ isConnected: Bool) async throws {
        try await LabThread.detached { [gateway] in try gateway.ip("link set g0 \(isConnected ? "up" : "down")") }
    }

    /// Sends a router advertisement of the gateway with the address of a captive portal API.
    func announce(_ uri: String) async throws {
        try await LabThread.detached { [gateway] in
            try gateway.perform { try RouterAdvertisement.send(portal: uri, through: "g0") }
        }
    }

    private func script(_ arguments: String, after prefix: String = "") -> String {
        "export SSL_CERT_FILE=\(roots); exec \(prefix) $R \(arguments) --dns \(Self.world)"
    }

    /// Runs the command on the machine, with the provider's DNS server and the lab's root. `prefix` is a command that runs it.
    func run(_ arguments: String, after prefix: String = "") async throws -> CommandResult {
        try await Command.run(script: script(arguments, after: prefix), in: pc)
    }

    func start(_ arguments: String) async throws -> RunningCommand {
        try await RunningCommand.start(script: script(arguments), in: pc)
    }
}

extension RunningCommand {
    /// Returns the place of the next verdict in JSON.
    func place() async throws -> String {
        let line = try await line()
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        guard object?["kind"] as? String == "verdict", let place = object?["place"] as? String else {
            throw LabError("no verdict: \(line)")
        }
        return place
    }
}

/// A router advertisement with the URI of a captive portal API (option 37, RFC 8910), sent to all nodes. radvd does not support this.
enum RouterAdvertisement {
    /// Sends an advertisement from the calling thread's namespace. The kernel adds the checksum. The sender does not become a default
    /// router, because the lifetime is zero.
    static func send(portal uri: String, through interface: String) throws {
        let text = Array(uri.utf8)
        let length = (2 + text.count + 7) / 8
        let filling = [UInt8](repeating: 0, count: length * 8 - 2 - text.count)
        let bytes =
            [134, 0, 0, 0, 64, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + [37, UInt8(length)] + text + filling
        let raw = LabDescriptor(try check("socket", socket(AF_INET6, CInt(SOCK_RAW.rawValue), CInt(IPPROTO_ICMPV6))))
        var hops: CInt = 255
        let size = socklen_t(MemoryLayout<CInt>.size)
        try check("setsockopt", setsockopt(raw.number, CInt(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, &hops, size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_scope_id = if_nametoindex(interface)
        guard inet_pton(AF_INET6, "ff02::1", &address.sin6_addr) == 1 else { throw LabError("no address") }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                sendto(raw.number, bytes, bytes.count, 0, address, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        try check("sendto", CInt(code))
    }
}
