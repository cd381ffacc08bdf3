package import LinuxSupport
package import NetworkReachability

/// Everything the judge sees.
package struct CheckEvidence: Sendable {
    /// The kernel's path to the target, or to the network at large.
    package var path: NetworkPath
    package var generation: UInt64
    /// The families that packets may take; empty for both.
    package var families: Set<AddressFamily> = []
    /// The router of each family, where that is not the path's own.
    package var gateways: [AddressFamily: IPAddress] = [:]
    /// Whether the target is a neighbour: then nothing beyond the link matters to it.
    package var isOnLink = false
    /// Whether packets to the target take the way that the line was asked about: whoever intercepts there may answer in its name.
    package var sharesLine = true
    /// Nil for the internet.
    package var target: CheckTarget?
    /// The hosts of the anchors that were to be asked.
    package var anchors: Set<String> = []
    /// The hosts of those that were not to be asked now, as they have said themselves.
    package var restingAnchors: Set<String> = []
    /// The DNS servers that are configured; nil where that could not be read.
    package var servers: [IPAddress]?
    /// What the user says the addresses of names are.
    package var expectations: [String: Set<IPAddress>] = [:]
    package var results: [ProbeResult] = []
    /// How many packets came in during the round and got to no program, by family; nil where that is not known.
    package var dropped: [AddressFamily: Int] = [:]
    /// Whether the reverse path filter was what dropped some (`rp_filter` of `ip-sysctl`).
    package var isReversePathFiltered = false
    /// Addresses of this machine that another one has too.
    package var duplicates: [IPAddress] = []
    /// The interface of the line if it is a tunnel.
    package var tunnel: NetworkInterface?
    /// For a tunnel: the way to its far end, judged by itself. At most one.
    package var underlay: [CheckEvidence] = []

    package init(path: NetworkPath, generation: UInt64 = 1, target: CheckTarget? = nil) {
        self.path = path
        self.generation = generation
        self.target = target
    }

    /// What counts: nothing of an older path, and nothing that never ran. An unassigned address is no evidence if its network exists.
    var valid: [ProbeResult] {
        let results = results.filter { $0.generation == generation && $0.outcome != .cancelled }
        guard results.contains(where: { $0.request.subject == .nobody }) else { return results }
        let others = results.filter { $0.request.subject != .nobody }.compactMap(\.request.destination)
        return results.filter { result in
            guard result.request.subject == .nobody, let address = result.request.destination else { return true }
            return !others.contains { UnassignedAddress.isOfOneNetwork($0, address) }
        }
    }

    /// Whether something could not be asked; that makes silence less sure.
    var isHandicapped: Bool {
        results.contains { if case .skipped(.notPermitted) = $0.outcome { true } else { false } }
    }

    /// How sure a silence is.
    var silence: CheckConfidence { isHandicapped ? .suspected : .likely }
}

extension NetworkPath {
    /// The interface if it is a tunnel, whose packets travel inside of others. PPP is none: its other end is the provider.
    package var tunnel: NetworkInterface? {
        flags?.contains(.transientConnection) == true ? nil : interface.flatMap { $0.type == .tunnel ? $0 : nil }
    }
}
