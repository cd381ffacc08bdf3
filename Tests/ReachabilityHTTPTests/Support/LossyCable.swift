import LinuxSupport
import NetworkLab

/// A client and a server in two network namespaces, connected by a cable. The server has an address to which the
/// client has a route.
struct LossyCable {
    /// The part of the path that is lost.
    enum Loss: String, CaseIterable {
        case carrier, route, address
    }

    let client: LabNamespace
    let server: LabNamespace
    let url = "http://10.8.0.2:8080/"

    init() throws {
        client = try LabNamespace()
        server = try LabNamespace()
        try client.ip("link set lo up", "link add c0 type veth peer name s0 netns \(server.path)", "link set c0 up")
        try client.ip("addr add 10.9.0.1/24 dev c0", "route add 10.8.0.2/32 via 10.9.0.2")
        try server.ip("link set lo up", "link set s0 up", "addr add 10.9.0.2/24 dev s0", "addr add 10.8.0.2/32 dev lo")
    }

    func lose(_ loss: Loss) throws {
        switch loss {
        case .carrier: try server.ip("link set s0 down")
        case .route: try client.ip("route del 10.8.0.2/32")
        case .address: try client.ip("addr del 10.9.0.1/24 dev c0")
        }
    }

    func restore(_ loss: Loss) throws {
        switch loss {
        case .carrier: try server.ip("link set s0 up")
        case .route: try client.ip("route add 10.8.0.2/32 via 10.9.0.2")
        case .address: try client.ip("addr add 10.9.0.1/24 dev c0", "route replace 10.8.0.2/32 via 10.9.0.2")
        }
    }

    /// A server at `url`.
    func faults() throws -> ScriptedServer { try .faults(in: server, at: "10.8.0.2", port: 8080) }

    /// Returns whether a connection attempt of the client is pending (SYN_SENT, `proc_pid_net(5)`).
    func isConnecting() throws -> Bool {
        try client.perform {
            let table = TextFile.read("/proc/thread-self/net/tcp") ?? ""
            return table.split(separator: "\n").dropFirst().contains { $0.split(separator: " ")[3] == "02" }
        }
    }

    func close() {
        client.close()
        server.close()
    }
}
