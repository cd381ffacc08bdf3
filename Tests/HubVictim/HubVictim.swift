import Glibc
import LinuxSupport
import ReachabilityFleet
import ReachabilityFleetHub

/// A hub that a test kills. It prints `replay COMMAND` or `none` for each state of a machine, and `saved COUNT` for decisions that are saved.
///
/// usage: HubVictim FILE RUN < LINES, each of them `MILLISECONDS TOPIC PAYLOAD`
@main
enum HubVictim {
    static func main() throws {
        let time = Locked(Duration.zero)
        let store = try HubStore(CommandLine.arguments[1])
        let writer = try HubWriter(store, run: CommandLine.arguments[2], clock: { time.withLock(\.self) })
        writer.addListener { decisions, _ in
            say("saved \(decisions.count { if case .noted = $0 { true } else { false } })")
        }
        writer.brokerConnected()
        while let line = readLine() {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let milliseconds = Int64(parts[0]) else { continue }
            let now = Duration.milliseconds(milliseconds)
            time.withLock { $0 = now }
            let message = Hub.Message(topic: String(parts[1]), payload: Array(parts[2].utf8), time: now)
            writer.take([message])
            guard case .device(let place, .state)? = FleetTopic(message.topic) else { continue }
            writer.flush()
            let replay = writer.hub.replay(for: place)
            say(replay.map { "replay " + String(decoding: DeviceCommand.replay($0).bytes, as: UTF8.self) } ?? "none")
        }
        writer.stop()
    }

    private static func say(_ line: String) {
        let line = line + "\n"
        _ = write(1, line, line.utf8.count)
    }
}
