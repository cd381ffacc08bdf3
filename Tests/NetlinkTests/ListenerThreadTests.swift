import NetworkLab
import Testing

@testable import LinuxPrimitives
@testable import Netlink

/// What the thread of a listener asks of the scheduler.
@Suite struct ListenerThreadTests {
    /// The slice of the calling thread in nanoseconds, where the kernel tells (`/proc/PID/sched`).
    private static var slice: Int? {
        let lines = TextFile.read("/proc/thread-self/sched")?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix("se.slice") }) else { return nil }
        return Int(line.filter(\.isNumber))
    }

    /// Kernels before 6.12 know one slice for all.
    private static let knowsSlices: Bool = {
        let release = TextFile.read("/proc/sys/kernel/osrelease") ?? ""
        let version = release.split(separator: ".").prefix(2).compactMap { Int($0) }
        return !version.lexicographicallyPrecedes([6, 12]) && slice != nil
    }()

    @Test(.enabled(if: Self.knowsSlices, "the kernel has no slices of threads, or does not show them"))
    func `short slices, so that it runs as soon as it is woken`() async throws {
        try await LabThread.detached {
            let before = try #require(Self.slice)
            EventSocket.prepareThread()
            #expect(Self.slice == 100_000)
            #expect(before > 100_000)
        }
    }
}
