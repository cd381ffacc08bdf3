import Foundation
import LinuxPrimitives
import NIOHTTP1
import NetworkLab
import Testing

@testable import ReachabilityServer

/// Who may change something, and how the service knows who asks.
@Suite struct AccessTests {
    private func mayChange(_ way: WebRequest.Way, group: UInt32?) throws -> Bool {
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/v1/reload")
        let request = try WebRequest(head, body: [], way: way)
        do {
            try AdminRule.check(request) { group }
            return true
        } catch {
            #expect(error.status == .forbidden)
            return false
        }
    }

    @Test func `root, the service's user and members of the group may change something`() throws {
        let stranger: UInt32 = 4_000_000
        #expect(try mayChange(.local(user: 0), group: nil))
        #expect(try mayChange(.local(user: geteuid()), group: nil))
        #expect(try mayChange(.local(user: stranger, groups: [7, 990]), group: 990))
        #expect(try !mayChange(.local(user: stranger, groups: [7, 990]), group: nil))
        #expect(try !mayChange(.local(user: stranger, groups: [7]), group: 990))
        #expect(try !mayChange(.local(user: stranger), group: 990))
        #expect(try !mayChange(.local(user: nil, groups: [990]), group: 990))
        #expect(try !mayChange(.loopback, group: 990))
    }

    /// What the server sees of a process that runs as another user.
    private func way(of user: [String]) async throws -> String {
        let directory = "/tmp/access-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        chmod(directory, 0o755)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = WebServer { request, done in
            done(WebAnswer(type: "text/plain", Array("\(request.way)".utf8)))
        }
        try await server.listen(at: directory + "/s", mode: 0o666)
        // Perl is everywhere on Debian, and every user may run it.
        let program = #"""
            my $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$!";
            print $socket "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
            my @lines = <$socket>;
            print $lines[-1];
            """#
        let words = user + ["perl", "-MIO::Socket::UNIX", "-e", program, directory + "/s"]
        let result = try await LabThread.detached { try LabProcess("setpriv", words).wait() }
        await server.stop()
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    /// In a user namespace there are no other users to be.
    private static let mayBecomeOthers =
        geteuid() == 0
        && (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8))?.contains("4294967295") == true

    @Test(.enabled(if: mayBecomeOthers)) func `the system says who asks, with all groups`() async throws {
        let member = ["--reuid=4242", "--regid=4243", "--groups=990,4300"]
        #expect(try await way(of: member) == "local(user: Optional(4242), groups: [4243, 990, 4300])")
        let loner = ["--reuid=4242", "--regid=4243", "--clear-groups"]
        #expect(try await way(of: loner) == "local(user: Optional(4242), groups: [4243])")
        let many = (5000..<6500).map(String.init).joined(separator: ",")
        #expect(
            try await way(of: ["--reuid=4242", "--regid=990", "--groups=\(many)"])
                == "local(user: Optional(4242), groups: [990])"
        )
    }
}
