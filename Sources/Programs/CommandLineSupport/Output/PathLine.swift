package import LinuxSupport
import Netlink
package import NetworkDiagnostics
package import NetworkReachability

/// A line of output that shows a path.
package struct PathLine {
    /// The host as given; nil for the network at large.
    package let target: String?
    /// The name of the network namespace; nil for the current one.
    package let namespace: String?
    package let path: NetworkPath

    package init(target: String?, namespace: String?, path: NetworkPath) {
        (self.target, self.namespace, self.path) = (target, namespace, path)
    }

    /// Returns a JSON object of schema 1. Keys may be added; none is renamed or removed.
    ///
    /// - Parameter time: The time of the output. Evaluated last.
    package func json(at time: @autoclosure () -> Timestamp) -> [UInt8] {
        var line = object(at: time())
        line.add("kind", "path")
        return line.bytes
    }

    /// Returns the JSON object without the key `kind`, so that more keys can follow.
    ///
    /// - Parameter reason: A reason that replaces the reason of the path.
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
        var line = JSONObject(at: time())
        line.add(object)
        return line
    }

    /// Returns the time, the target, the status and its explanation as text.
    ///
    /// - Parameter withFamilies: True if the line names the families, IPv4 and IPv6, over which a name or the network is reachable.
    package func text(
        at time: Timestamp,
        withFlags: Bool,
        withNamespace: Bool = false,
        withFamilies: Bool = false
    ) -> [UInt8] {
        var parts = [path.status.description.coloured(StandardOutput.wantsColour ? colour : nil)]
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

    private var colour: Colour {
        switch path.status {
        case .reachable: .green
        case .notReachable: .red
        case .unknown: .yellow
        }
    }
}

extension JSONObject {
    /// Creates an object with the first keys of schema 1.
    package init(at time: Timestamp) {
        self.init()
        add("schema", 1)
        add("time", time)
        add("monotonicNanoseconds", time.monotonicNanoseconds)
    }
}

/// A step of a chain of evidence as text: one line, and its remedy in a second line if the step is broken. The columns are aligned.
package struct StepText {
    /// The state of the step.
    package enum Mark {
        case ok, broken, notReached, note
        /// Broken, but the path is unknown, because the kernel could not be queried.
        case unclear
    }

    private let mark: Mark
    private let kind: String
    private let summary: String
    private let remedy: String?

    package init(_ mark: Mark, _ kind: String, _ summary: String, remedy: String? = nil) {
        (self.mark, self.kind, self.summary, self.remedy) = (mark, kind, summary, remedy)
    }

    /// The lines in UTF-8, without line ends.
    package var lines: [[UInt8]] {
        let start = word.padded(to: 8).coloured(StandardOutput.wantsColour ? colour : nil)
        var lines = ["\(start)\(kind.padded(to: 11))\(summary.printable)"]
        if let remedy { lines.append("".padded(to: 19) + "-> \(remedy.printable)") }
        return lines.map { Array($0.utf8) }
    }

    private var word: String {
        switch mark {
        case .ok: "ok"
        case .broken, .unclear: "broken"
        case .notReached: "-"
        case .note: "note"
        }
    }

    private var colour: Colour? {
        switch mark {
        case .ok: .green
        case .broken: .red
        case .unclear: .yellow
        case .note, .notReached: nil
        }
    }
}

extension StepText {
    /// Creates the text for a step of the kernel's evidence.
    package init(_ step: NetworkEvidence.Step, of evidence: NetworkEvidence) {
        let mark: Mark =
            switch step.state {
            case .ok: .ok
            case .broken: evidence.path.status == .unknown ? .unclear : .broken
            case .notReached: .notReached
            case .informational: .note
            }
        self.init(mark, step.kind.rawValue, step.summary, remedy: step.remedy)
    }
}
