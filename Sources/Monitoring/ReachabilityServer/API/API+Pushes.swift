import Crypto
import LinuxSupport
import NIOHTTP1
import NetworkReachability
import ReachabilityLedger
package import ReachabilityService

/// The digests of the tokens of the targets that send pushes. Thread-safe.
package final class PushTokens: Sendable {
    private let digests = Locked<[String: [UInt8]]>([:])

    package init() {}

    /// Reads the files with the tokens, and returns a closure that applies them. It is used as a preparation of ``Reloader``.
    @Sendable package func prepare(
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> @Sendable () -> Void {
        var (digests, problems): ([String: [UInt8]], [ConfigurationProblem]) = ([:], [])
        for (index, target) in configuration.targets.enumerated() {
            guard let file = target.push?.tokenFile else { continue }
            do throws(DeliveryFailure) {
                digests[target.name] = Array(SHA256.hash(data: Array(try SecretFile.token(file, atLeast: 16).utf8)))
            } catch {
                let path = "target[\(index + 1)].push.token-file"
                problems.append(ConfigurationProblem(path: path, text: error.text))
            }
        }
        if !problems.isEmpty { throw ConfigurationProblems(problems) }
        return { [self, digests] in self.digests.withLock { $0 = digests } }
    }

    /// Checks whether a request may push for a target.
    ///
    /// The answer is the same for a target that does not exist, so that a client without a token learns no names.
    ///
    /// - Throws: ``Problem`` if the request has neither the token of the target nor the permission to make changes.
    func check(_ request: WebRequest, of target: String) throws(Problem) {
        let presented = PresentedToken(request.headers)
        if let presented, let digest = digests.withLock({ $0[target] }), presented.matches(digest) { return }
        if request.mayChange { return }
        throw Problem.unauthorized(
            "a push requires the token of its target; send Authorization: Bearer TOKEN",
            isUnknown: presented != nil
        )
    }
}

extension API {
    private enum PushStatus: String, CaseIterable {
        case up, down
    }

    /// Records a push of a target.
    func push(_ query: Query) throws(Problem) -> WebAnswer {
        let name = query["name"]
        try pushTokens.check(query.request, of: name)
        let status = try query.word("status", PushStatus.self) ?? .up
        let message = query.text("message")
        try query.checkNames()
        switch service.push(name, isUp: status == .up, message: message) {
        case .accepted: break
        case .tooSoon:
            throw Problem(
                .tooManyRequests,
                "a push was received within the last second",
                headers: [("Retry-After", "1")]
            )
        case .notExpected:
            if service.snapshot.accounting.accounts[name] == nil { throw Self.noTarget(name) }
            throw Problem(.conflict, "\"\(name.printable)\" has no key push in the configuration")
        }
        let snapshot = service.snapshot
        let due = snapshot.pushes[name]?.due.map { snapshot.time($0).text }
        var object = JSONObject()
        object.add("schema", 1)
        object.add("target", name)
        object.add("status", status.rawValue)
        object.add("due", due)
        object.add("kind", "push")
        let text = "\(name.printable): \(status.rawValue), the next push is due by \(due ?? "-")"
        return .one(Item(key: name, object: object, text: text), query.request, isTagged: false).unstored
    }

    /// Answers a request to pause or to continue a target.
    func setPause(_ query: Query, _ result: MonitoringService.PauseResult) throws(Problem) -> WebAnswer {
        let name = query["name"]
        switch result {
        case .done: break
        case .unknownTarget: throw Self.noTarget(name)
        case .disabled:
            throw Problem(.conflict, "\"\(name.printable)\" is disabled in the configuration; remove enabled = false")
        case .failed(let error):
            throw Problem(.conflict, "cannot monitor \"\(name.printable)\": \(error.description)")
        }
        guard let item = service.snapshot.item(of: name) else { throw Self.noTarget(name) }
        return .one(item, query.request, isTagged: false).unstored
    }
}

extension MonitoringService.Snapshot {
    /// Returns the JSON object of a push.
    func object(of push: Push) -> JSONObject {
        var object = JSONObject()
        object.add("time", time(push.instant))
        object.add("status", push.isUp ? "up" : "down")
        object.add("message", push.message)
        return object
    }
}
