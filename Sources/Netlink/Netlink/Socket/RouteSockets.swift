import LinuxSupport

/// The two sockets of one network namespace: one listens, one asks.
package final class RouteSockets: KernelAnswering, Sendable {
    package let events: EventSocket
    private let questions: Locked<QuestionSocket>
    private let hardware: HardwareProbe

    /// Opens both in the calling thread's network namespace.
    ///
    /// - Parameter tap: hears what passes both.
    package init(tap: (any NetlinkTap)? = nil) throws(NetlinkError) {
        events = try EventSocket(tap: tap)
        let socket = try SocketTransport()
        let transport: any NetlinkTransport = if let tap { TappedTransport(socket, tap) } else { socket }
        questions = Locked(QuestionSocket(transport))
        hardware = HardwareProbe()
    }

    /// One answer for each question, in their order. Callers take turns.
    package func ask(_ asked: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer] {
        let forNetlink = asked.filter { !$0.isForDevice }
        var answers = try questions.withLock { socket throws(NetlinkError) in try socket.ask(forNetlink) }[...]
        if forNetlink.count == asked.count { return Array(answers) }
        return asked.map { question in
            switch question {
            case .hardware(let link): .hardware(hardware.hardware(of: link, besides: events))
            case .peers(let index): .peers(hardware.peers(ofInterface: index, besides: events))
            default: answers.removeFirst()
            }
        }
    }
}
