import LinuxSupport
import NIOHTTP1
package import NetworkDiagnostics
package import NetworkReachability
import ReachabilityLedger
import ReachabilityService

/// Puts evidence from a namespace into the words of `reachability why --json`: an object, as UTF-8.
package typealias EvidenceWriter = @Sendable (NetworkEvidence, NetworkNamespace) -> [UInt8]

extension API {
    /// Why a target is as it is, step by step, as the kernel says it at this moment: what the command says, and under `account` what the books
    /// have of it.
    func why(_ name: String) throws(Problem) -> Item {
        guard let evidenceWriter else { throw Problem(.serviceUnavailable, "the kernel is not asked here") }
        guard let words = memory.words(of: name, service, evidenceWriter) else { throw Self.noTarget(name) }
        let snapshot = service.snapshot
        guard let account = snapshot.item(of: name) else { throw Self.noTarget(name) }
        var object = JSONObject(encoded: words.object)
        object.add("account", account.object)
        let check = snapshot.findings[name].map { ["  \($0.finding.sentence.printable)"] } ?? []
        let report = ([account.text] + words.lines + check).joined(separator: "\n")
        return Item(key: name, object: object, text: account.text, report: report)
    }
}

/// What the kernel said last of each target, for a second: whoever asks again and again costs no more than that.
final class EvidenceMemory: Sendable {
    struct Words: Sendable {
        let object: [UInt8]
        /// For people, each step with what would mend it.
        let lines: [String]
    }

    static let age: Duration = .seconds(1)

    private let known = Locked<[String: (time: Duration, words: Words)]>([:])

    /// Asks on the calling thread, which may wait for DNS servers for a second. Nil for a target that is not watched.
    func words(of target: String, _ service: MonitoringService, _ write: EvidenceWriter) -> Words? {
        let now = service.clock.monitor.boot
        let recent = known.withLock { known in
            known = known.filter { now - $0.value.time < Self.age }
            return known[target]?.words
        }
        if let recent { return recent }
        guard let evidence = service.evidence(of: target) else { return nil }
        let lines = evidence.steps.flatMap { EvidenceRecord.Step($0).lines }
        let words = Words(object: write(evidence, service.namespace(of: target)), lines: lines)
        known.withLock { $0[target] = (now, words) }
        return words
    }
}
