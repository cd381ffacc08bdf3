import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability
import RouteFilter

/// A connection whose answers are written down: those of netlink by the tap of its sockets, the others here.
final class RecordingConnection: KernelConnection {
    private let connection: any KernelConnection
    private let recorder: Recorder

    init(_ connection: any KernelConnection, _ recorder: Recorder) {
        self.connection = connection
        self.recorder = recorder
    }

    var isCurrent: Bool {
        let isCurrent = connection.isCurrent
        recorder.note(RecordedQuestion(.isCurrent), isCurrent)
        return isCurrent
    }

    func link(index: UInt32) throws(NetlinkError) -> Link? { try connection.link(index: index) }
    func link(named name: String) throws(NetlinkError) -> Link? { try connection.link(named: name) }
    func links() throws(NetlinkError) -> [Link] { try connection.links() }
    func legs(of query: RouteQuery) throws(NetlinkError) -> [NextHop] { try connection.legs(of: query) }
    func nextHop(id: UInt32) throws(NetlinkError) -> NextHopObject? { try connection.nextHop(id: id) }
    func addresses() throws(NetlinkError) -> [InterfaceAddress] { try connection.addresses() }
    func rules(_ family: AddressFamily) throws(NetlinkError) -> [RoutingRule] { try connection.rules(family) }

    func neighbour(_ address: WireAddress, on link: UInt32) throws(NetlinkError) -> Neighbour? {
        try connection.neighbour(address, on: link)
    }

    func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        try connection.routes(queries)
    }

    func routes(_ queries: [RouteQuery], after links: [UInt32]) throws(NetlinkError) -> RouteAnswers {
        try connection.routes(queries, after: links)
    }

    func hardware(of link: Link) -> LinkHardware {
        let hardware = connection.hardware(of: link)
        var encoder = ByteEncoder()
        encoder.add(hardware)
        recorder.note(.hardware(of: link), encoder.bytes)
        return hardware
    }

    func listen(on queue: DispatchQueue, _ ring: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
        do throws(NetlinkError) {
            try connection.listen(on: queue) { [recorder] burst in
                recorder.turn(.rung(noticed: burst.noticed))
                ring(burst)
            }
            recorder.note(RecordedQuestion(.listen), .success([]))
        } catch {
            recorder.note(RecordedQuestion(.listen), .failure(error))
            throw error
        }
    }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
        do throws(NetlinkError) {
            try connection.setFilter(filter)
            recorder.note(RecordedQuestion(.filter), .success([]))
        } catch {
            recorder.note(RecordedQuestion(.filter), .failure(error))
            throw error
        }
    }

    func stopListening() {
        connection.stopListening()
    }

    func nextBurst(within limit: Duration) -> EventBurst? {
        let burst = connection.nextBurst(within: limit)
        recorder.note(RecordedQuestion(.moreMessages), burst != nil)
        return burst
    }

    func activity(ofPort port: UInt32) -> ProcessActivity {
        let activity = connection.activity(ofPort: port)
        recorder.note(.activity(ofPort: port), [activity.recorded])
        return activity
    }
}
