import NetworkLab
import NetworkReachability

/// A namespace with an uplink, and a witness elsewhere: the far end of a veth pair, which lives as long as the namespace.
final class WitnessedNamespace: Sendable {
    let uplink: Uplink
    let name: NamespaceName
    private let witness: LabNamespace
    private let mark: String

    /// Blocks.
    init(_ name: String, in directory: String, witness: LabNamespace, mark: String) throws {
        uplink = try Uplink()
        self.name = try NamespaceName(name, in: directory, for: uplink.namespace)
        self.witness = witness
        self.mark = mark
        try uplink.namespace.ip("link add inside type veth peer name \(mark) netns \(witness.path)")
    }

    /// Takes the name away and lets go: it is gone unless somebody else holds it.
    func delete() {
        name.remove()
        uplink.namespace.close()
    }

    /// Whether the kernel has really freed it. The kernel tears namespaces down a while later, and tells nobody when.
    func isFreed() async throws -> Bool {
        try await eventually {
            try await LabThread.detached { [witness, mark] in
                try witness.run("ip", ["link", "show", "dev", mark]).status != 0
            }
        }
    }

    var options: NetworkReachabilityOptions {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(name.path)
        return options
    }
}
