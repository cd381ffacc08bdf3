import LinuxSupport
import NetworkReachability
package import ReachabilityChecks

/// An object that makes the checks of one target. Thread-safe.
package protocol TargetProbing: Sendable {
    /// Runs all checks of the target concurrently and returns the combined result; nil if the task is cancelled.
    ///
    /// - Parameter isDown: True if the target was down before. Then recent results about the uplink may be reused.
    func check(isDown: Bool) async -> CheckFinding?
    /// Sends a burst of echoes to the target; nil if none can be sent.
    func burst(count: Int) async -> EchoBurst?
    /// Discards the cached results about the uplink, because the path has changed.
    func discardCache()
}

extension TargetProbing {
    package func burst(count: Int) async -> EchoBurst? { nil }
}

/// The check engines of a service. Targets with the same check options share an engine. Thread-safe.
package final class CheckEngines: Sendable {
    /// The options that an engine is created with. Targets with equal options share it.
    private struct EngineOptions: Hashable {
        let namespace: NetworkNamespace
        let interface: String?
        let mark: UInt32
        let family: CheckOptions.Family?
        let anchors: [CheckOptions.Anchor]
        let policy: TrustPolicy?
    }

    private struct Weak: Sendable {
        weak var engine: CheckEngine?
    }

    private let engines = Locked<[EngineOptions: Weak]>([:])

    /// Returns the object that makes the checks of a target.
    package func prober(of target: ServiceTarget, _ settings: CheckSettings) -> any TargetProbing {
        func engine(_ policy: TrustPolicy?) -> CheckEngine {
            self.engine(
                EngineOptions(
                    namespace: target.namespace,
                    interface: target.interface,
                    mark: target.mark,
                    family: target.family.map { $0 == .ipv4 ? .ipv4 : .ipv6 },
                    anchors: settings.anchors,
                    policy: policy
                )
            )
        }
        let echo = settings.burst == nil ? nil : target.host.flatMap { try? CheckTarget.echo($0) }
        return EngineProber(
            checks: settings.checks.map { (engine($0.policy), $0.target) },
            bursts: echo.map { (engine(nil), $0) }
        )
    }

    private func engine(_ key: EngineOptions) -> CheckEngine {
        engines.withLock { engines in
            if let engine = engines[key]?.engine { return engine }
            engines = engines.filter { $0.value.engine != nil }
            var options = CheckOptions()
            options.networkNamespace = key.namespace
            options.interface = key.interface
            options.firewallMark = key.mark
            options.family = key.family
            options.anchors = key.anchors
            options.policy = key.policy?.file
            let engine = CheckEngine(options)
            engines[key] = Weak(engine: engine)
            return engine
        }
    }
}

/// A prober that runs the checks of one target on shared engines.
private struct EngineProber: TargetProbing {
    let checks: [(engine: CheckEngine, target: CheckTarget?)]
    /// The engine and the target of the bursts; nil for none.
    let bursts: (engine: CheckEngine, target: CheckTarget)?

    func check(isDown: Bool) async -> CheckFinding? {
        let findings = await withTaskGroup(of: CheckFinding?.self) { group -> [CheckFinding] in
            for (engine, target) in checks {
                group.addTask {
                    do throws(CheckError) {
                        return try await engine.check(target, isDown ? .lasting : .fresh).map { CheckFinding($0) }
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

    func burst(count: Int) async -> EchoBurst? {
        guard let bursts else { return nil }
        do throws(CheckError) { return try await bursts.engine.burst(bursts.target, count: count) } catch { return nil }
    }

    func discardCache() {
        for check in checks { check.engine.forget() }
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
            let isPinged =
                target.checks?.burst != nil || target.checks?.checks.contains { $0.target?.isEcho == true } == true
            return target.namespace == .current && isPinged
        }
        guard !pinging.isEmpty, !mayEcho() else { return [] }
        return [
            """
            ping is not permitted, so "ping" checks send a UDP datagram and try a TCP connection instead, which some hosts do not answer, \
            and bursts are not sent; \
            to permit it, add a group of this process to the sysctl net.ipv4.ping_group_range
            """
        ]
    }
}
