import Dispatch
import LinuxPrimitives
package import Netlink
import NetworkReachability
import RouteFilter

/// A connection to the kernel of a recording. Requests are written and recorded answers decoded as ever.
final class PlayedConnection: KernelConnection {
    private let player: Player
    private let socket: PlayedSocket

    init(_ player: Player) throws(NetlinkError) {
        self.player = player
        socket = try PlayedSocket(player)
    }

    var isCurrent: Bool {
        player.state.withLock { $0.take(RecordedQuestion(.isCurrent))?.answer != [0] }
    }

    func link(index: UInt32) throws(NetlinkError) -> Link? { try socket.link(index: index) }
    func link(named name: String) throws(NetlinkError) -> Link? { try socket.link(named: name) }
    func links() throws(NetlinkError) -> [Link] { try socket.links() }
    func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] { try socket.legs(of: query) }
    func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? { try socket.nextHop(id: id) }
    func addresses() throws(NetlinkError) -> [InterfaceAddress] { try socket.addresses() }
    func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] { try socket.rules(family) }

    func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        try socket.neighbour(address, on: link)
    }

    func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        try socket.routes(queries, after: []).routes
    }

    func routes(_ queries: [RouteQuery], after links: [UInt32]) throws(NetlinkError) -> RouteAnswers {
        try socket.routes(queries, after: links)
    }

    func hardware(of link: Link) -> LinkHardware {
        player.state.withLock { state in
            state.take(.hardware(of: link))?.answer.decoded { try $0.hardware() }
        } ?? LinkHardware()
    }

    func listen(on queue: DispatchQueue, _ ring: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
        try player.outcome(of: .listen)
        player.state.withLock { $0.ring = ring }
    }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
        try player.outcome(of: .filter)
    }

    func stopListening() {
        player.state.withLock { $0.ring = nil }
    }

    func nextBurst(within limit: Duration) -> EventBurst? {
        player.state.withLock { state in
            guard let entry = state.takeExact(RecordedQuestion(.moreMessages)), entry.answer == [1] else { return nil }
            return entry.burst
        }
    }

    func activity(ofPort port: UInt32) -> ProcessActivity {
        ProcessActivity(recorded: player.state.withLock { $0.take(.activity(ofPort: port))?.answer.first })
    }
}

extension Player: NetlinkAnswers {
    package func answer(to request: [UInt8]) throws(NetlinkError) -> [UInt8] {
        try state.withLock { $0.answer(to: request) }.get()
    }
}
