import Glibc
import LinuxSupport

/// Sends COUNT echo requests or makes COUNT connections, to consecutive addresses from ADDRESS on. Prints the CPU time of each, and the
/// round-trip times by the kernel's time stamps.
///
/// usage: SocketBenchmark echo|connect ADDRESS COUNT [PORT]
@main
enum SocketBenchmark {
    /// The maximum number of simultaneous probes.
    private static let window = 2048

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let first = WireAddress(arguments[2]), let count = Int(arguments[3]), count > 0,
            ["echo", "connect"].contains(arguments[1])
        else {
            print("usage: SocketBenchmark echo|connect ADDRESS COUNT [PORT]")
            exit(64)
        }
        let isEcho = arguments[1] == "echo"
        let port = arguments.count > 4 ? UInt16(arguments[4]) ?? 80 : 80
        let engine = try SocketEngine()
        let begun = (clock: SystemClock.monotonic, usage: usage)
        let unsorted = await withTaskGroup(of: Duration?.self, returning: [Duration].self) { group in
            var trips: [Duration] = []
            for index in 0..<count {
                if index >= window, let trip = await group.next() ?? nil { trips.append(trip) }
                let address = WireAddress(family: first.family, bits: first.bits + UInt128(index))
                let endpoint = SocketEndpoint(address, port: port)
                group.addTask { isEcho ? await echo(engine, endpoint) : await connect(engine, endpoint) }
            }
            for await trip in group {
                if let trip { trips.append(trip) }
            }
            return trips
        }
        let trips = unsorted.sorted()
        let wall = SystemClock.monotonic - begun.clock
        let now = usage
        let cost = (now.cpu - begun.usage.cpu) / count
        func percentile(_ part: Double) -> String {
            trips.isEmpty ? "-" : "\(Double(trips[Int(Double(trips.count - 1) * part)].nanoseconds) / 1_000)"
        }
        print(
            "\(arguments[1]) answered \(trips.count)/\(count) wall \(wall) cpu \(cost) each,",
            "round trip p50 \(percentile(0.5)) us p99 \(percentile(0.99)) us, resident \(now.resident) KiB"
        )
    }

    private static func echo(_ engine: SocketEngine, _ endpoint: SocketEndpoint) async -> Duration? {
        let outcome = await engine.send(DatagramRequest(to: endpoint, .echo(size: 56), limit: .seconds(5)))
        return outcome.answers.first.map { $0.timing.roundTrip ?? $0.timing.elapsed }
    }

    private static func connect(_ engine: SocketEngine, _ endpoint: SocketEndpoint) async -> Duration? {
        let outcome = await engine.connect(StreamRequest(to: endpoint, limit: .seconds(5)))
        return outcome.isConnected ? outcome.information?.roundTrip : nil
    }

    /// The CPU time and the maximum resident size of the process in KiB.
    private static var usage: (cpu: Duration, resident: Int) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let user = Duration.seconds(usage.ru_utime.tv_sec) + .microseconds(usage.ru_utime.tv_usec)
        let system = Duration.seconds(usage.ru_stime.tv_sec) + .microseconds(usage.ru_stime.tv_usec)
        return (user + system, usage.ru_maxrss)
    }
}
