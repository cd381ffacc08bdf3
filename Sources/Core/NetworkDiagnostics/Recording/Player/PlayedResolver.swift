import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability

/// The name service of a recording.
struct PlayedResolver: HostResolver {
    private let player: Player

    init(_ player: Player) {
        self.player = player
    }

    func localAddresses(of name: String) -> [NameLookup.Address] {
        player.state.withLock { state in
            state.take(RecordedQuestion(.localAddresses, Array(name.utf8)))?.answer.decoded { try $0.addresses() }
        } ?? []
    }

    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        player.state.withLock { $0.wait(for: name, completion) }
    }

    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let player = player
        return player.state.withLock { state in
            guard state.take(RecordedQuestion(.watchesNames))?.answer != [0] else { return nil }
            state.namesChanged = changed
            return Cancellation { player.state.withLock { $0.namesChanged = nil } }
        }
    }
}
