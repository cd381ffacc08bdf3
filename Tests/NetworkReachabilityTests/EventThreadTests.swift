import Dispatch
import Foundation
import LinuxPrimitives
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
