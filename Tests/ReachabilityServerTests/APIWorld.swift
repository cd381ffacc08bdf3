import Foundation
import KernelLab
import LinuxSupport
import NIOHTTP1
import NetworkDiagnostics
import NetworkReachability
import NetworkReachabilityTesting
import ServiceLab

@testable import ReachabilityServer
@testable import ReachabilityService

extension API {
    /// Returns the answer to a request.
    func answer(
        _ target: String,
        _ method: HTTPMethod = .GET,
        _ headers: [(String, String)] = [],
        peer: WebRequest.Peer = .local(user: nil),
        body: String = ""
    ) throws -> WebAnswer {
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: HTTPHeaders(headers))
        return router.answer(to: try WebRequest(head, body: Array(body.utf8), peer: peer))
    }
}

/// The API of a service with a fake kernel.
final class APIWorld: Sendable {
    let kernel = FakeKernel.connected()
    let service: MonitoringService
    let api: API
    private let manager: NetworkReachabilityManager

    /// - Parameters:
    ///   - configuration: The configuration, of which access control and the status page are used.
    ///   - real: The difference between the wall clock and CLOCK_BOOTTIME.
    init(
        targets: [String] = ["internet"],
        configuration: ServiceConfiguration = ServiceConfiguration(),
        real: Duration = .seconds(1_700_000_000),
        _ findProcess: (@Sendable (Removal) -> ActingProcess?)? = nil
    ) throws {
        let manager = try NetworkReachabilityManager(kernel: kernel)
        self.manager = manager
        service = MonitoringService(
            clock: .fake(kernel.clock, wall: real),
            makeProber: { _, _ in SilentProber() },
            makeManager: { _ in manager },
            findProcess: findProcess ?? { _ in nil }
        )
        for target in targets { service.insert(target, manager) }
        let inspector = NetworkInspector(monitor: manager.record.monitor, options: NetworkReachabilityOptions())
        let evidence: EvidenceWriter = { evidence, _ in
            var object = JSONObject()
            object.add("broken", evidence.brokenStep?.kind.rawValue)
            object.add("kind", "evidence")
            return object.bytes
        }
        let access = Access()
        _ = try access.prepare(configuration)()
        api = API(
            service,
            version: "1.2.3",
            access: access,
            interfaces: { try? inspector.interfaces() },
            evidence: evidence,
            statusPage: Locked(configuration.statusPage)
        ) { WebStatistics() }
        flush()
    }

    /// Adds a target.
    func watch(_ target: ServiceTarget) {
        service.insert(target, manager)
        flush()
    }

    /// Waits until all changes are observed.
    func flush() {
        manager.record.monitor.queue.sync {}
        service.flush()
    }

    /// Sets the carrier after a time.
    func setCarrier(_ isThere: Bool, after time: Duration = .zero) {
        if time > .zero { kernel.clock.advance(by: time) }
        kernel.setCarrier("eth0", isThere)
        flush()
    }

    /// Causes an outage of a duration, followed by one second without.
    func lose(for duration: Duration) {
        setCarrier(false)
        setCarrier(true, after: duration)
        kernel.clock.advance(by: .seconds(1))
    }

    func answer(
        _ target: String,
        _ method: HTTPMethod = .GET,
        _ headers: [(String, String)] = [],
        peer: WebRequest.Peer = .local(user: nil),
        body: String = ""
    ) throws -> WebAnswer {
        try api.answer(target, method, headers, peer: peer, body: body)
    }

    /// Returns an answer that is a JSON object.
    func object(_ target: String) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(answer(target).body)) as? [String: Any] ?? [:]
    }

    /// Returns the items of a list.
    func items(_ target: String) throws -> [[String: Any]] {
        try object(target)["items"] as? [[String: Any]] ?? []
    }

    func text(_ target: String, _ headers: [(String, String)] = []) throws -> String {
        String(decoding: try answer(target, .GET, headers).body, as: UTF8.self)
    }
}
