import Glibc
import LinuxSupport
import ReachabilityFleet
import ReachabilityFleetHub
import ReachabilityService

/// Keeps what it reads, and writes the number of each message that needs not be sent again.
///
/// usage: HubVictim FILE < LINES, each of them `NUMBER MILLISECONDS TOPIC PAYLOAD`; the second is the time
@main
enum HubVictim {
    static func main() throws {
        let time = Locked(Duration.zero)
        let keeper = try HubKeeper(try SQLiteHubStore(CommandLine.arguments[1]), clock: { time.withLock(\.self) })
        keeper.brokerIsBack()
        while let line = readLine() {
            let parts = line.split(separator: " ", maxSplits: 3)
            guard parts.count == 4, let milliseconds = Int64(parts[1]) else { continue }
            let (number, now) = ("\(parts[0])\n", Duration.milliseconds(milliseconds))
            time.withLock { $0 = now }
            let message = Hub.Message(topic: String(parts[2]), payload: Array(parts[3].utf8), time: now)
            keeper.take([.init(message) { _ = write(1, number, number.utf8.count) }])
        }
        keeper.stop()
    }
}
