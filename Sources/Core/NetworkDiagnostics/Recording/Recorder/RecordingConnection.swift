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

    /// No answer depends on it, so it is not written down.
    var hasEvents: Bool { connection.hasEvents }
    var isDelivering: Bool { connection.isDelivering }

    func ask(_ questions: [KernelQuestion]) throws(NetlinkError) -> [KernelAnswer] {
        let answers = try connection.ask(questions)
        for answered in zip(questions, answers) {
            var encoder = ByteEncoder()
            switch answered {
            case (.hardware(let link), .hardware(let hardware)):
                encoder.add(hardware)
                recorder.note(.hardware(of: link), encoder.bytes)
            case (.peers(let link), .peers(let peers)):
                encoder.add(peers)
                recorder.note(.peers(of: link), encoder.bytes)
            default: break
            }
        }
        return answers
    }

    func listen(
        on queue: DispatchQueue,
        _ heard: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] {
        do throws(NetlinkError) {
            let missing = try connection.listen(on: queue) { [recorder] burst in
                recorder.turn(.rung(noticed: burst.noticed))
                heard(burst)
            }
            recorder.note(RecordedQuestion(.listen), .success([]))
            return missing
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
}
