import NetworkLab
import Testing

@testable import Netlink

/// What a real kernel does to a reader who is too slow.
@Suite(.enabled(if: TestNamespace.isPermitted)) struct OverrunKernelTests {
    /// More messages than a socket's buffer takes.
    private static let storm = ["add", "del"].flatMap { verb in
        (0..<5000).map { "route \(verb) 198.18.\($0 / 256).\($0 % 256)/32 dev lo" }
    }

    @Test func `a loss is told before what the kernel kept, and once more after it`() async throws {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            let events = try namespace.perform { try EventSocket() }
            #expect(try events.join().isEmpty)
            _ = events.drain()
            try namespace.ip(Self.storm)

            let first = events.drain()
            #expect(first.overruns == 1 && first.messages == 0)
            #expect(first.isIncomplete && first.prefixes.isEverything)

            // The kernel drops this one without another word.
            try namespace.ip("link add name d0 type veth peer name d1")
            var kept = EventBurst()
            while events.wait(atMost: .zero) {
                let burst = events.drain()
                if !events.wait(atMost: .zero) { #expect(burst.isIncomplete) }
                kept.add(burst)
            }
            #expect(kept.overruns == 0)
            #expect(kept.messages > 0 && kept.messages < Self.storm.count)
            #expect(!kept.subjects.contains(.link), "the kernel does tell: the second look is not needed any more")
            #expect(kept.mayChangeInterfaces && !kept.isOnlyRoutes)

            try namespace.ip("route add 203.0.113.0/24 dev lo")
            let later = events.drain()
            #expect(later.messages == 1 && !later.isIncomplete)
        }
    }
}
