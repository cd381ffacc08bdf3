import Glibc

/// The HTTP clients of `Benchmarks/run --only requests`: async-http-client alone, a session of ReachabilityRequests with its defaults,
/// and URLSession.
///
/// usage: RequestBenchmark get PROGRAM URL COUNT   COUNT small GETs in sequence over one connection
///        RequestBenchmark down PROGRAM URL FILE   downloads a body into a file
///        RequestBenchmark up PROGRAM URL FILE     uploads a file with PUT
///
/// PROGRAM is `client`, `session` or `urlsession`. `down` and `up` print by how many KiB the maximum resident size grew.
@main
enum RequestBenchmark {
    /// Synchronous, because valgrind 3.19 crashes if the main thread ends before the process.
    static func main() {
        Task.detached {
            do {
                try await run(Array(CommandLine.arguments.dropFirst()))
                // Exits without the time and the memory of an orderly end.
                exit(0)
            } catch {
                print(error)
                exit(1)
            }
        }
        while true { pause() }
    }

    private static func run(_ words: [String]) async throws {
        guard words.count == 4, let sender = makeSender(words[1]) else { usage() }
        let (url, last) = (words[2], words[3])
        let before = peak()
        switch words[0] {
        case "get": for _ in 0..<(Int(last) ?? 1) { try await sender.get(url) }
        case "down": try await sender.download(url, to: last)
        case "up": try await sender.upload(last, to: url)
        default: usage()
        }
        if words[0] != "get" { print(peak() - before) }
    }

    private static func makeSender(_ name: String) -> (any Sender)? {
        switch name {
        case "client": ClientSender()
        case "session": SessionSender()
        case "urlsession": URLSessionSender()
        default: nil
        }
    }

    /// The maximum resident size in KiB (VmHWM of proc_pid_status(5)).
    private static func peak() -> Int {
        var text = [UInt8](repeating: 0, count: 8192)
        let file = open("/proc/self/status", O_RDONLY)
        defer { close(file) }
        let count = read(file, &text, text.count)
        let lines = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        return lines.first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    private static func usage() -> Never {
        print("usage: RequestBenchmark get|down|up client|session|urlsession URL COUNT|FILE")
        exit(64)
    }
}

/// An HTTP client under test.
protocol Sender: Sendable {
    /// Sends a GET and reads the body into memory.
    func get(_ url: String) async throws
    func download(_ url: String, to path: String) async throws
    func upload(_ path: String, to url: String) async throws
}

/// The error for a response other than 200.
struct UnexpectedStatus: Error {
    let status: Int

    static func check(_ status: Int) throws {
        if status != 200 { throw UnexpectedStatus(status: status) }
    }
}
