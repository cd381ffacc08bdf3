import Dispatch
import Foundation
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// The thread that waits for the kernel.
@Suite struct EventThreadTests {
    /// How long the thread behind a link such as `/proc/self/task/7` has run, in nanoseconds (`proc(5)`, schedstat).
    private func runTime(_ thread: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(thread)/schedstat", encoding: .utf8)
        return try #require(Int(text.prefix { $0 != " " }))
    }

    @Test func `what cannot be read is told once, and the thread ends`() throws {
        let namespace = try LabNamespace()
        let events = try namespace.perform { try EventSocket() }
        _ = try events.join()
        // In its place, something that is always readable and no socket.
        let null = try Descriptor.open("/dev/null")
        try #require(dup2(null.number, events.descriptor) == events.descriptor)
        let heard = RecordingListener<(failure: SystemError?, thread: String)>()
        let thread = try EventThread(events)
        try thread.start(on: DispatchQueue(label: "EventThreadTests")) { burst in
            let thread = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            heard.record((burst.failure, thread ?? "?"))
        }
        #expect(heard.waitForCount(1))
        let first = try #require(heard.values.first)
        #expect(first.failure == SystemError(rawValue: ENOTSOCK))
        var isThere: Bool { FileManager.default.fileExists(atPath: "/proc/\(first.thread)") }
        let start = SystemClock.monotonic
        while isThere, SystemClock.monotonic - start < .seconds(30) { usleep(1000) }
        #expect(!isThere)
        #expect(heard.count == 1)
    }

    @Test func `it sleeps between events, also where listening has ended before and begun again`() throws {
        let namespace = try LabNamespace()
        try namespace.ip("link set lo up")
        let connection = try LinuxKernel(namespace: NamespaceReference(path: namespace.path)).connect()
        let queue = DispatchQueue(label: "EventThreadTests")
        let heard = RecordingListener<String>()
        for _ in 0..<3 {
            connection.stopListening()
            let missing = try connection.listen(on: queue) { _ in
                // The queue's work runs on the thread that waits.
                heard.record((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? "?")
            }
            #expect(missing.isEmpty)
        }
        try namespace.ip("route add 198.51.100.0/24 dev lo")
        #expect(heard.waitForCount(1))
        let thread = try #require(heard.values.last)
        let (before, start) = (try runTime(thread), SystemClock.monotonic)
        for number in 0..<30 { try namespace.ip("route add 203.0.113.\(number)/32 dev lo") }
        let (ran, passed) = (try runTime(thread) - before, SystemClock.monotonic - start)
        #expect(Duration.nanoseconds(ran) < passed / 3, "ran for \(ran) ns of \(passed)")
        connection.stopListening()
    }
}
