import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability

/// The kernel of a recording.
struct PlayedKernel: Kernel {
    private let player: Player

    init(_ player: Player) {
        self.player = player
    }

    func connect() throws(NetlinkError) -> any KernelConnection {
        try player.outcome(of: .connect)
        return PlayedConnection(player)
    }

    /// Never recorded.
    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { [] }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let player = player
        return player.state.withLock { state in
            guard state.take(RecordedQuestion(.watchesNamespace))?.answer == [1] else { return nil }
            state.namespaceChanged = changed
            return Cancellation { player.state.withLock { $0.namespaceChanged = nil } }
        }
    }
}

extension Player {
    /// Throws what was thrown then.
    func outcome(of subject: RecordedQuestion.Subject) throws(NetlinkError) {
        let outcome = state.withLock { $0.take(RecordedQuestion(subject))?.outcome }
        _ = try outcome?.get()
    }
}
