package import LinuxSupport
import Netlink
package import NetworkReachability

/// A path as one line of output.
package struct PathLine {
    /// The host as it was given; nil for the network at large.
    package let target: String?
    /// The name of the network namespace; nil for the current one.
    package let namespace: String?
    package let path: NetworkPath

    package init(target: String?, namespace: String?, path: NetworkPath) {
        (self.target, self.namespace, self.path) = (target, namespace, path)
    }

    /// Schema 1: keys may be added, none is renamed or taken away.
    ///
    /// - Parameter time: Read last, so that it is the time of the writing.
    package func json(at time: @autoclosure () -> Timestamp) -> [UInt8] {
        var line = object(at: time())
        line.add("kind", "path")
        return line.bytes
    }

    /// The same without its kind, to be added to.
    ///
    /// - Parameter reason: of something that says more than the path does.
    package func object(at time: @autoclosure () -> Timestamp, reason: String? = nil) -> JSONObject {
        let interface = path.interface
        var object = JSONObject()
        object.add("target", target)
        switch path.status {
        case .unknown:
            object.add("status", "unknown")
            object.add("connectionType", String?.none)
        case .notReachable:
            object.add("status", "notReachable")
            object.add("connectionType", String?.none)
        case .reachable(let type):
            object.add("status", "reachable")
            object.add("connectionType", type.rawValue)
        }
        object.add("flags", path.flags?.names ?? [])
        object.add("interface", interface?.name)
        object.add("interfaceType", interface?.type.rawValue)
        object.add("gateway", path.gateway?.description)
        object.add("source", path.source?.description)
        object.add("reason", reason ?? path.reason?.rawValue)
        object.add("generation", path.generation)
        object.add("underlyingInterfaces", interface?.underlying.map { $0.name } ?? [])
        object.add("destination", path.destination?.description)
        object.add("supportsIPv4", path.supportsIPv4)
        object.add("supportsIPv6", path.supportsIPv6)
        object.add("flapping", path.isFlapping)
        object.add("namespace", namespace)
        let time = time()
        var line = JSONObject()
        line.add("schema", 1)
        line.add("time", time)
        line.add("monotonicNanoseconds", time.monotonicNanoseconds)
        line.add(object)
        return line
    }

    /// Time, target, status, then what explains it.
    ///
    /// - Parameter withFamilies: Whether it says over which of IPv4 and IPv6 a name or the network can be reached; an address tells.
    package func text(
        at time: Timestamp,
        withFlags: Bool,
        withNamespace: Bool = false,
        withFamilies: Bool = false
    ) -> [UInt8] {
        var parts = [coloured(path.status.description)]
        if let reason = path.reason { parts.append(reason.description) }
        if withFlags { parts.append("flags \(path.flags?.readableDescription ?? "unknown")") }
        if let interface = path.interface { parts.append("interface \(interface)") }
        if let gateway = path.gateway { parts.append("gateway \(gateway.description.printable)") }
        if let source = path.source { parts.append("source \(source.description.printable)") }
        if withFamilies, let families { parts.append("over \(families)") }
        if withNamespace { parts.append(namespace.map { "namespace \($0.printable)" } ?? "current namespace") }
        return Array("\(time.text) \(target?.printable ?? "network"): \(parts.joined(separator: ", "))".utf8)
    }

    private var families: String? {
        if let target, IPAddress(target) != nil { return nil }
        return switch (path.supportsIPv4, path.supportsIPv6) {
        case (true, true): "IPv4 and IPv6"
        case (true, false): "IPv4 only"
        case (false, true): "IPv6 only"
        case (false, false): nil
        }
    }

    private func coloured(_ text: String) -> String {
        guard StandardOutput.wantsColour else { return text }
        let colour =
            switch path.status {
            case .reachable: "32"
            case .notReachable: "31"
            case .unknown: "33"
            }
        return "\u{1b}[\(colour)m\(text)\u{1b}[0m"
    }
}
