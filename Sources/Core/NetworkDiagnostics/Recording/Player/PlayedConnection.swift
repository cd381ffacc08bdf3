import Dispatch
import LinuxPrimitives
package import Netlink
import NetlinkRecording
import NetworkReachability
import RouteFilter

/// A connection to the kernel of a recording. Requests are written and recorded answers decoded as ever.
final class PlayedConnection: KernelConnection {
    private let player: Player
    private let questions: Locked<QuestionSocket>

    init(_ player: Player) {
        self.player = player
        questions = Locked(QuestionSocket(PlayedTransport(player)))
    }

    var isCurrent: Bool {
        player.state.withLock { $0.take(RecordedQuestion(.isCurrent))?.answer != [0] }
    }

    var hasEvents: Bool { false }

    func ask(_ asked: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer] {
        let forNetlink = asked.filter { !$0.isForDevice }
        var answers = try questions.withLock { questions throws(NetlinkError) in try questions.ask(forNetlink) }[...]
        return asked.map { question in
            switch question {
            case .hardware(let link): .hardware(hardware(of: link))
            case .peers(let link): .peers(peers(of: link))
            default: answers.removeFirst()
            }
        }
    }

    private func hardware(of link: Link) -> LinkHardware {
        player.state.withLock { state in
            state.take(.hardware(of: link))?.answer.decoded { try $0.hardware() }
        } ?? LinkHardware()
    }

    private func peers(of link: UInt32) -> [TunnelFarEnd]? {
        player.state.withLock { state in
            state.take(.peers(of: link))?.answer.decoded { try $0.farEnds() } ?? nil
        }
    }

    func listen(
        on queue: DispatchQueue,
        _ heard: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] {
        try player.outcome(of: .listen)
        player.state.withLock { $0.heard = heard }
        return []
    }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
        try player.outcome(of: .filter)
    }

    func stopListening() {
        player.state.withLock { $0.heard = nil }
    }
}

extension Player: NetlinkAnswers {
    package func answer(to request: [UInt8]) throws(NetlinkError) -> [UInt8] {
        try state.withLock { $0.answer(to: request) }.get()
    }
}
