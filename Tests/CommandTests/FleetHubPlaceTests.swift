#if Fleet
import Glibc
import NetworkLab
import Testing

/// Where a hub listens when it is nobody's, as systemd starts it.
@Suite(.enabled(if: LabThread.canBecomeNobody, "another user cannot be become in this namespace"))
struct FleetHubPlaceTests {
    /// Starts a hub as another user, and says at which of a directory's files it listens, and of which mode that is.
    private static func place(_ environment: String, _ arguments: String) async throws -> String {
        let directory = try ScratchDirectory()
        try #require(chown(directory.path, 65_534, 65_534) == 0)
        let programs = Command.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        // Other users may not see the directory of the build.
        let script = """
            set -e
            mount -t tmpfs -o mode=755 tmpfs /run
            mkdir /run/programs && mount --bind \(programs) /run/programs
            cd \(directory.path)
            exec setpriv --reuid=65534 --regid=65534 --clear-groups env \(environment) XDG_RUNTIME_DIR=$PWD \\
                /run/programs/reachability fleet hub --broker mqtt://127.0.0.1:1 --listen none --history none \(arguments)
            """
        let hub = try await RunningCommand.start(in: nil) {
            try LabProcess("unshare", ["--mount", "sh", "-c", script])
        }
        let line = try await hub.line()
        let file = try #require(line.split(separator: " ").last.map(String.init))
        var status = stat()
        try #require(stat(file, &status) == 0, "\(line)")
        hub.signal(SIGTERM)
        #expect(try await hub.result().status == 0)
        #expect(file.hasPrefix(directory.path))
        return "\(file.dropFirst(directory.path.count)) \(String(status.st_mode & 0o777, radix: 8))"
    }

    @Test(arguments: ["serve", "fleet hub --broker mqtt://127.0.0.1:1"])
    func `a user without a directory for sockets is told that there is none`(command: String) async throws {
        let directory = try ScratchDirectory()
        try #require(chown(directory.path, 65_534, 65_534) == 0)
        let programs = Command.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let script = """
            set -e
            mount -t tmpfs -o mode=755 tmpfs /run
            mkdir /run/programs && mount --bind \(programs) /run/programs
            cd \(directory.path)
            exec setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_RUNTIME_DIR \\
                /run/programs/reachability \(command) --listen 127.0.0.1:0 --history none
            """
        let service = try await RunningCommand.start(in: nil) {
            try LabProcess("unshare", ["--mount", "sh", "-c", script])
        }
        #expect(try await service.line().hasPrefix("listening at http://127.0.0.1:"))
        service.signal(SIGTERM)
        let result = try await service.result()
        #expect(result.status == 0 && result.errors.contains("there is no Unix socket: XDG_RUNTIME_DIR"), "\(result)")
    }

    @Test("Everybody may ask at the socket in the directory that systemd has made; elsewhere only its user")
    func places() async throws {
        #expect(try await Self.place("RUNTIME_DIRECTORY=$PWD:/run/other", "") == "/hub.sock 666")
        #expect(try await Self.place("RUNTIME_DIRECTORY=$PWD", "--socket $PWD/own.sock") == "/own.sock 600")
        #expect(try await Self.place("", "") == "/reachability/hub.sock 600")
    }
}
#endif
