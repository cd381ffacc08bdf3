#if Fleet
import CommandLineSupport
import LinuxSupport
import ReachabilityFleet
import ReachabilityFleetAgent
import ReachabilityLedger
import ReachabilityService

/// The event log of `reachability serve`, read over its Unix socket.
struct ServiceLog: EventSource {
    private static let wait = Duration.seconds(30)

    private let socket: String

    init(socket: String) {
        self.socket = socket
    }

    func events(after position: EventPosition?, waiting: Bool) throws(EventLogError) -> EventPage {
        var words = ["limit=50"]
        if let position { words.append("after=\(position)") }
        if waiting { words.append("wait=\(DurationText.text(Self.wait))") }
        let answer = try send("GET", "/v1/events?" + words.joined(separator: "&"))
        if answer.status == 410 { throw .gone }
        let bytes = try body(answer)
        do { return try EventPage(bytes) } catch { throw foreign(error) }
    }

    func outages(since wall: Duration) throws(EventLogError) -> [DeviceOutage] {
        let from = Timestamp(real: wall).text
        var found: [DeviceOutage] = []
        var next: String?
        repeat {
            let after = next.map { "&after=\($0)" } ?? ""
            let bytes = try body(try send("GET", "/v1/outages?limit=100&from=\(from)\(after)"))
            let page: OutagePage
            do { page = try OutagePage(bytes) } catch { throw foreign(error) }
            found += page.outages
            next = page.next
        } while next != nil
        return found.reversed()
    }

    func summary() throws(EventLogError) -> DeviceSummary? {
        let answer = try send("GET", "/v1/targets/internet")
        if answer.status == 404 { return nil }
        let target = try body(answer)
        let today = Timestamp(real: LocalTime().startOfDay(at: SystemClock.real)).text
        let availability = try body(try send("GET", "/v1/targets/internet/availability?from=\(today)"))
        let outages = try body(try send("GET", "/v1/outages?target=internet&limit=1"))
        do throws(PayloadError) {
            var summary = try DeviceSummary(target: target, availability: availability)
            summary.lastCause = try OutagePage(outages).outages.first.map { outage in
                StateDescription.past(TargetState(outage.attribution, outage.cause), of: outage.target)
            }
            return summary
        } catch { throw foreign(error) }
    }

    func answer(_ command: DeviceCommand) -> DeviceAnswer {
        do throws(EventLogError) {
            switch command {
            case .detail: return DeviceAnswer(to: command, body: try body(try send("GET", "/v1/status")))
            case .check(let target):
                return DeviceAnswer(
                    to: command,
                    body: try body(try send("POST", "/v1/targets/\(target.percentEncoded)/check"))
                )
            case .report(let outage):
                return DeviceAnswer(
                    to: command,
                    body: try body(try send("GET", "/v1/outages/\(outage)/report?format=json"))
                )
            case .replay: return DeviceAnswer(to: command)
            }
        } catch {
            switch error {
            case .gone: return DeviceAnswer(to: command, problem: "the service no longer has it")
            case .unavailable(let text): return DeviceAnswer(to: command, problem: text)
            }
        }
    }

    private func send(_ method: String, _ target: String) throws(EventLogError) -> ServiceAnswer {
        let request = ServiceRequest(method, target, accept: "application/json")
        let answer: ServiceAnswer?
        do {
            answer = try request.answer(at: socket, limit: 16 << 20, patience: Self.wait + .seconds(15))
        } catch {
            let hint = "start it with `reachability serve`, or name its socket with --socket"
            throw .unavailable("cannot query \(socket.printable): \(error); \(hint)")
        }
        guard let answer else {
            throw .unavailable("cannot query \(socket.printable): the response is not from a reachability service")
        }
        return answer
    }

    private func body(_ answer: ServiceAnswer) throws(EventLogError) -> [UInt8] {
        guard 200..<300 ~= answer.status else {
            throw .unavailable("the service responded with status \(answer.status)")
        }
        return answer.body
    }

    private func foreign(_ error: PayloadError) -> EventLogError {
        .unavailable("cannot read the response of \(socket.printable): \(error.description.printable)")
    }
}
#endif
