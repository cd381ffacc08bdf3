import ReachabilityFleet
import ReachabilityLedger
import TestSupport

/// A simulation of a site: its machines, the events that affect them, and the messages that a broker passes to a hub.
/// The messages include wills, takeovers, repetitions and clocks that are wrong by years. The true events are known.
struct FleetSimulation {
    /// An event that affects some machines of the site.
    enum Cause: CaseIterable {
        case cable, power, sleep, provider
    }

    struct Happening {
        let cause: Cause
        let start: Int
        let end: Int
        let devices: [Int]
    }

    static let deviceCount = 6
    private static let refresh = 300
    private static let keepalive = 60

    private(set) var happenings: [Happening] = []
    private(set) var messages: [Hub.Message] = []
    private var chance: SeededGenerator
    /// The difference between the wall clock and CLOCK_BOOTTIME of each machine, at time zero of the hub.
    private let walls: [Int]

    init(seed: UInt64, walls: [Int]) {
        chance = SeededGenerator(seed: seed)
        self.walls = walls
        var time = 1000
        for _ in 0..<8 {
            let length = Int.random(in: 200...4000, using: &chance)
            guard let cause = Cause.allCases.randomElement(using: &chance) else { continue }
            // Only a shared cause affects several machines at the same time.
            let count = cause == .provider ? Int.random(in: 2...Self.deviceCount, using: &chance) : 1
            let devices = Array((0..<Self.deviceCount).shuffled(using: &chance).prefix(count))
            happenings.append(Happening(cause: cause, start: time, end: time + length, devices: devices))
            time += length + Int.random(in: 1000...4000, using: &chance)
        }
        for device in 0..<Self.deviceCount { play(device, until: time) }
        // The order of messages is kept only within a topic.
        messages.sort { $0.time < $1.time }
    }

    static func name(_ device: Int) -> String { "d\(device)" }

    private mutating func play(_ device: Int, until end: Int) {
        var (session, boot, number, bootStart) = (0, 0, UInt64(0), -5000)
        var time = device * 7
        func report(_ seconds: Int) -> DeviceState.Report {
            DeviceState.Report(
                boot: "boot\(boot)",
                wall: .seconds(walls[device] + seconds),
                bootTime: .seconds(seconds - bootStart),
                refresh: .seconds(Self.refresh)
            )
        }
        func state(_ seconds: Int, at received: Int) {
            let state = DeviceState(session: "s\(session)", standing: .online, report: report(seconds))
            send(device, "state", state.bytes, received)
        }
        for happening in happenings where happening.devices.contains(device) {
            for second in stride(from: time, to: happening.start, by: Self.refresh) { state(second, at: second) }
            // The broker publishes the will after its delay.
            let noticed = happening.start + 90 + Int.random(in: 0...Self.keepalive / 3, using: &chance)
            send(device, "state", DeviceState.will(session: "s\(session)").bytes, noticed)
            session += 1
            if happening.cause == .power { (boot, bootStart) = (boot + 1, happening.end) }
            let back = happening.end + Int.random(in: 1...60, using: &chance)
            state(back, at: back)
            var (received, again) = (back + 1, 0)
            // Messages without an acknowledgement are sent again. All of them may be repeated.
            repeat {
                switch happening.cause {
                case .cable:
                    let told = DeviceOutage(
                        id: "o\(happening.start)",
                        target: "internet",
                        attribution: .us,
                        cause: .link,
                        start: .seconds(walls[device] + happening.start),
                        end: .seconds(walls[device] + happening.end)
                    )
                    event(device, session, .outage(told), again == 0 ? number + 1 : number, received)
                    if again == 0 { number += 1 }
                case .sleep where again == 0:
                    number += 1
                    event(device, session, .resumed(.seconds(happening.end - happening.start)), number, received)
                default: break
                }
                received += 1
                again += 1
            } while Bool.random(using: &chance) && again < 4
            event(device, session, .caughtUp, nil, received)
            time = received + 1
        }
        for second in stride(from: time, to: end, by: Self.refresh) { state(second, at: second) }
    }

    private mutating func event(
        _ device: Int,
        _ session: Int,
        _ kind: DeviceEvent.Kind,
        _ number: UInt64?,
        _ seconds: Int
    ) {
        let event = DeviceEvent(
            session: "s\(session)",
            position: number.map { EventPosition(epoch: "e", number: $0) },
            wall: .seconds(walls[device] + seconds),
            kind: kind
        )
        send(device, "event", event.bytes, seconds)
    }

    private mutating func send(_ device: Int, _ kind: String, _ payload: [UInt8], _ seconds: Int) {
        let topic = "reach/v1/north/\(Self.name(device))/\(kind)"
        messages.append(Hub.Message(topic: topic, payload: payload, time: at(seconds)))
    }
}
