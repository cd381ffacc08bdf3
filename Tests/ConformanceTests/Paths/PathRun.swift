import Dispatch
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkDiagnostics
@testable import NetworkReachability

/// Plays a case in a world: what is asked, and what listeners hear, must be what the case says.
struct PathRun {
    private let play: PathCase
    private let world: any World
    private let checks: Checks
    private let manager: NetworkReachabilityManager
    private let queue = DispatchQueue(label: "PathRun")
    private let heardPaths = RecordingListener<NetworkPath>()
    private let heardFlags = RecordingListener<NetworkPath>()
    private let heardStatuses = RecordingListener<NetworkReachabilityStatus>()
    private let tokens: [NetworkReachabilityToken]

    init(_ play: PathCase, in world: any World, _ checks: Checks) throws {
        self.play = play
        self.checks = checks
        self.world = world
        try world.apply(play.setup)
        var options = NetworkReachabilityOptions()
        options.firewallMark = play.mark
        manager = try world.manager(of: play.host, options: options)
        tokens = [
            manager.addPathListener(for: .path, onQueue: queue, heardPaths.record),
            manager.addPathListener(for: .flags, onQueue: queue, heardFlags.record),
        ]
        manager.startListening(onQueue: queue, onUpdatePerforming: heardStatuses.record)
    }

    func run() throws {
        expect(play.before, "before")
        try world.apply(play.change)
        expect(play.after, "after")
        try world.apply(play.undo)
        expect(play.before, "back")
        world.settle()
        queue.sync {}
        expectOrder()
        withExtendedLifetime(tokens) {}
    }

    private func expect(_ text: String, _ phase: String) {
        let expected = PathLine(text)
        let mustWait = play.takesTime && !(world is FakeWorld)
        let deadline = Deadline(after: .seconds(mustWait ? 15 : 0))
        let isAsked = deadline.poll { PathLine(manager.path).matches(expected) }
        let isExplained = deadline.poll { PathLine(manager.evidence().path).matches(expected) }
        checks.expect(isExplained, "\(phase): explained \(PathLine(manager.evidence().path)), not \(text)")
        EvidenceTests.expectSound(manager.evidence(), checks)
        let path = manager.path
        checks.expect(isAsked, "\(phase): asked \(PathLine(path)), not \(text)")
        checks.expect(path.status, is: NetworkReachabilityStatus(path.flags))
        checks.expect(path.isExpensive, is: text.hasPrefix("W"))
        let isHeard = Deadline(after: .seconds(15)).poll(every: .milliseconds(2)) {
            world.settle()
            return heardPaths.last.map { PathLine($0).matches(expected) } ?? false
                && heardStatuses.last == path.status && heardFlags.last?.flags == path.flags
        }
        checks.expect(isHeard, "\(phase): heard \(heardPaths.values.map { PathLine($0) }), not \(text)")
    }

    /// Every call was a change, none was left out, and all came in order.
    private func expectOrder() {
        let paths = heardPaths.values
        for (path, next) in zip(paths, paths.dropFirst()) {
            checks.expect(path.generation < next.generation, "a generation that does not grow: \(next.generation)")
            checks.expect(!path.isSame(as: next), "told twice: \(next)")
        }
        let flags = heardFlags.values.map { PathLine($0).flags }
        checks.expect(zip(flags, flags.dropFirst()).allSatisfy { $0 != $1 }, "flags twice: \(flags)")
        var statuses: [NetworkReachabilityStatus] = []
        for status in heardFlags.values.map(\.status) where statuses.last != status { statuses.append(status) }
        checks.expect(heardStatuses.values, is: statuses)
        guard !play.mayPass else { return }
        let expected = [play.before, play.after, play.before].map { PathLine($0).flags }
        let changes = expected.enumerated().filter { $0.offset == 0 || expected[$0.offset - 1] != $0.element }
        checks.expect(flags, is: changes.map(\.element))
    }
}
