import Glibc
import NetworkLab
import TestSupport
import Testing

/// Programs of ours, and of others with our library in them, leave the system's log alone; Dispatch would write to it.
@Suite struct SystemLogTests {
    private static let unprivileged = "setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all"

    @Test(.enabled(if: Tools.has("setpriv") && Tools.hasOtherUsers), arguments: [unprivileged, ""])
    func `watch writes nothing to the system's log`(prefix: String) async throws {
        let (uplink, log) = (try await Uplink.make(), try SystemLog())
        let watch = try await RunningCommand.start(
            script: log.script(running: "\(prefix) $R watch 203.0.113.9"),
            in: uplink.namespace
        )
        _ = try await watch.status(of: "203.0.113.9")
        // By now each thread of Dispatch has begun.
        try await uplink.setConnected(false)
        _ = try await watch.status(of: "203.0.113.9")
        watch.signal(SIGTERM)
        #expect(try await watch.result().errors.isEmpty)
        #expect(log.messages.isEmpty)
    }

    /// The library's own faults; what Dispatch says of threads is told in the documentation, for that is up to the program.
    @Test func `a daemon with the library in it is not told off by Dispatch`() async throws {
        let uplink = try await Uplink.make()
        let program = BuiltProgram.path("EmbeddingProgram")
        let daemon = try await RunningCommand.start(
            script: "LIBDISPATCH_LOG=stderr exec \(program)",
            in: uplink.namespace
        )
        #expect(try await daemon.line() == "reachable (ethernet or Wi-Fi)")
        try await uplink.setConnected(false)
        #expect(try await daemon.line() == "not reachable")
        daemon.signal(SIGTERM)
        let errors = try await daemon.result().errors
        #expect(!errors.contains("DEPRECATED") && !errors.contains("handler"), "\(errors)")
    }
}
