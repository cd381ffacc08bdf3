import LinuxSupport
import NetworkReachability
import ReachabilityChecks

/// An object that makes the checks of one target. Thread-safe.
package protocol TargetProbing: Sendable {
    /// Runs all checks of the target concurrently and returns the combined result; nil if the task is cancelled.
    ///
    /// - Parameter isDown: True if the target was down before. Then recent results about the uplink may be reused.
    func check(isDown: Bool) async -> CheckFinding?
    /// Discards the cached results about the uplink, because the path has changed.
    func forget()
}

/// The check engines of a service. Targets with the same check options share an engine. Thread-safe.
package final class CheckBenches: Sendable {
    /// The options that an engine is created with. Targets with equal options share it.
    private struct Way: Hashable {
        let namespace: NetworkNamespace
        let interface: String?
        let mark: UInt32
        let family: CheckOptions.Family?
        let anchors: [CheckOptions.Anchor]
        let policy: TrustPolicy?
    }

    private struct Weak: Sendable {
        weak var bench: CheckEngine?
    }

    private let benches = Locked<[Way: Weak]>([:])

    /// Returns the object that makes the checks of a target.
    package func prober(of target: ServiceTarget, _ settings: CheckSettings) -> any TargetProbing {
        BenchProber(
            questions: settings.questions.map { question in
                let way = Way(
                    namespace: target.namespace,
                    interface: target.interface,
                    mark: target.mark,
                    family: target.family.map { $0 == .ipv4 ? .ipv4 : .ipv6 },
                    anchors: settings.anchors,
                    policy: question.policy
                )
                return (bench(way), question.target)
            }
        )
    }

    private func bench(_ way: Way) -> CheckEngine {
        benches.withLock { benches in
            if let bench = benches[way]?.bench { return bench }
            benches = benches.filter { $0.value.bench != nil }
            var options = CheckOptions()
            options.networkNamespace = way.namespace
            options.interface = way.interface
            options.firewallMark = way.mark
            options.family = way.family
            options.anchors = way.anchors
            options.policy = way.policy?.file
            let bench = CheckEngine(options)
            benches[way] = Weak(bench: bench)
            return bench
        }
    }
}

/// A prober that runs the checks of one target on shared engines.
private struct BenchProber: TargetProbing {
    let questions: [(bench: CheckEngine, target: CheckTarget?)]

    func check(isDown: Bool) async -> CheckFinding? {
        let findings = await withTaskGroup(of: CheckFinding?.self) { group -> [CheckFinding] in
            for (bench, target) in questions {
                group.addTask {
                    do throws(CheckError) {
                        return try await bench.check(target, isDown ? .lasting : .fresh).map { CheckFinding($0) }
                    } catch {
                        return CheckFinding(error)
                    }
                }
            }
            var findings: [CheckFinding] = []
            for await case let finding? in group { findings.append(finding) }
            return findings
        }
        return Task.isCancelled ? nil : CheckFinding.joined(findings)
    }

    func forget() {
        for question in questions { question.bench.forget() }
    }
}

/// Warnings about checks that cannot work as configured. They are reported before the first check.
package enum CheckNotices {
    /// Returns the warnings about the checks of some targets.
    ///
    /// - Parameters:
    ///   - targets: The targets to check.
    ///   - mayEcho: Returns whether this process may send ICMP echo requests in its network namespace.
    /// - Returns: One sentence per warning. Control characters are escaped.
    package static func of(_ targets: [ServiceTarget], mayEcho: () -> Bool = { CheckEngine.mayEcho }) -> [String] {
        let pinging = targets.filter { target in
            target.namespace == .current && target.checks?.questions.contains { $0.target?.isEcho == true } == true
        }
        guard !pinging.isEmpty, !mayEcho() else { return [] }
        return [
            """
            ping is not permitted, so "ping" checks send a UDP datagram and try a TCP connection instead, which some hosts do not answer; \
            to permit it, add a group of this process to the sysctl net.ipv4.ping_group_range
            """
        ]
    }
}
