import CommandLineSupport
import Foundation
import LinuxSupport
import NetworkDiagnostics
import NetworkLab
import NetworkReachability

/// The output of `reachability why` for a host in a namespace, made in this process.
struct Explanation: @unchecked Sendable {
    /// Without colours.
    let lines: [String]
    let object: [String: Any]
    let isReachable: Bool

    var text: String { lines.joined(separator: "\n") }

    static func of(
        _ host: String?,
        in namespace: LabNamespace,
        mark: UInt32 = 0,
        family: AddressFamily? = nil
    ) async throws -> Explanation {
        try await LabThread.detached {
            var options = NetworkReachabilityOptions()
            options.networkNamespace = .path(namespace.path)
            options.firewallMark = mark
            options.family = family
            let manager =
                if let host {
                    try NetworkReachabilityManager(host: host, options: options)
                } else {
                    try NetworkReachabilityManager(options: options)
                }
            let evidence = manager.evidence(over: family)
            let lines = evidence.steps.flatMap { step in
                StepText(step, of: evidence).lines.map { line in
                    String(decoding: line, as: UTF8.self).replacing(#/\u{1b}\[\d+m/#, with: "")
                }
            }
            let bytes = EvidenceObject(evidence: evidence, target: host, namespace: nil).bytes
            let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
            return Explanation(lines: lines, object: object, isReachable: evidence.path.status.isReachable)
        }
    }

    /// A member of the object as JSON with sorted keys.
    func member(_ key: String) throws -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .fragmentsAllowed]
        let data = try JSONSerialization.data(withJSONObject: object[key] ?? "missing", options: options)
        return String(decoding: data, as: UTF8.self)
    }
}
