import Foundation
import NetworkLab
import Testing

/// `reachability download` from a server at the other end of a virtual cable.
@Suite struct DownloadCommandTests {
    private static let content = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }
    private static let half = content.count / 2
    private static let done = CommandResult(status: 0, output: "", errors: "")

    private static func failure(_ status: CInt, _ sentence: String) -> CommandResult {
        CommandResult(status: status, output: "", errors: "reachability: \(sentence)\n")
    }

    private func lab(_ change: (inout FileServer.Behaviour) -> Void = { _ in }) async throws -> DownloadLab {
        var behaviour = FileServer.Behaviour(content: Self.content)
        change(&behaviour)
        return try await .make(behaviour)
    }

    @Test func `a download prints nothing on a pipe and replaces a file only with --force`() async throws {
        let lab = try await lab()
        #expect(try await lab.run(environment: "umask 027") == Self.done)
        #expect(lab.content() == Self.content)
        #expect(try lab.names() == ["file"])
        let attributes = try FileManager.default.attributesOfItem(atPath: lab.file)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        try lab.directory.write("file", "old")
        #expect(try await lab.run() == Self.failure(73, "cannot create file: it exists; --force replaces it"))
        #expect(lab.server.requests.count == 1)
        let wrong = String(repeating: "0", count: 64)
        let sentence = "the download is not the expected file: its SHA-256 is \(Self.digest); it was deleted"
        #expect(try await lab.run("--force --sha256 \(wrong)") == Self.failure(65, sentence))
        #expect(lab.content() == Array("old".utf8))
        #expect(try lab.names() == ["file"])
        #expect(try await lab.run("--force --sha256 \(Self.digest.uppercased())") == Self.done)
        #expect(lab.content() == Self.content)
        try lab.directory.makeFolder("folder")
        #expect(
            try await lab.run("--force --output folder")
                == Self.failure(73, "cannot create folder: it exists and is not a regular file")
        )
        try await Command.run(["download", "http://127.0.0.1:1/"])
            .expectRefusal("the last part of \"http://127.0.0.1:1/\" cannot be a file name; give one with --output")
    }

    @Test func `a download waits for the network at the start and shows this on a terminal`() async throws {
        let lab = try await lab()
        try await lab.setCable(isIn: false)
        let script = "cd \(lab.directory.path); exec script -qefc \"$R download \(lab.url)\" /dev/null"
        let command = try await RunningCommand.start(script: script, in: lab.client)
        try await waitUntil { await command.hasWritten("waiting for the network") }
        #expect(lab.server.requests.isEmpty)
        try await lab.setCable(isIn: true)
        let result = try await command.result()
        #expect(result.status == 0)
        #expect(result.output.contains("100 % [====================] 2.0 MB of 2.0 MB"))
        #expect(result.output.hasSuffix("file: 2.0 MB\r\n"))
        #expect(lab.content() == Self.content)
    }

    @Test func `a download of a changed file restarts and reports the reason`() async throws {
        let lab = try await lab { ($0.limit, $0.closes) = (Self.half, true) }
        let command = try await lab.start()
        try await lab.untilRequests(are: 2)
        let other = Array(Self.content.reversed())
        lab.server.behave { ($0.content, $0.tag, $0.limit, $0.closes) = (other, #""v2""#, .max, false) }
        let result = try await command.result()
        let reason = "the server sends the whole file: the file has changed, or the server does not send parts"
        let sentence = "restarted from the beginning: \(reason)"
        #expect(result == Self.failure(0, sentence))
        #expect(lab.content() == other)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `the received part is kept at a signal and at the deadline`(signal: CInt) async throws {
        let lab = try await lab { $0.limit = Self.half }
        let hint = "1.0 MB are stored, and the same command continues"
        let command = try await lab.start()
        try await lab.untilPart(has: Self.half)
        #expect(try await lab.run() == Self.failure(75, "cannot download to file: another download is in progress"))
        #expect(try await command.result(after: signal) == Self.failure(128 + signal, "ended by a signal; \(hint)"))
        #expect(try lab.names() == ["file.part", "file.part.json"])
        #expect(try await lab.run("--deadline 300ms") == Self.failure(75, "the deadline has passed; \(hint)"))
        lab.server.behave { $0.limit = .max }
        #expect(try await lab.run() == Self.done)
        #expect(lab.content() == Self.content)
    }

    @Test(arguments: [
        ("size=1m", CInt(74), "cannot write disk/file.part: No space left on device"),
        ("ro", 73, "cannot write disk/file.part: Read-only file system"),
    ])
    func `a full or read-only disk is reported with its exit status`(
        options: String,
        status: CInt,
        sentence: String
    ) async throws {
        let lab = try await lab()
        let script = """
            cd \(lab.directory.path) && mkdir disk && exec unshare -m sh -c \
            'mount -t tmpfs -o \(options) none disk && $R download --output disk/file \(lab.url); exit $?'
            """
        #expect(try await Command.run(script: script, in: lab.client) == Self.failure(status, sentence))
    }

    @Test func `the proxy of the environment is used, and an unusable one is reported without its password`()
        async throws
    {
        let lab = try await lab()
        let proxy = "http_proxy=http://name:pass@192.0.2.1:\(ScriptedServer.labPort)"
        let script = "cd \(lab.directory.path); export \(proxy); $R download http://files.example/file"
        #expect(try await Command.run(script: script, in: lab.client) == Self.done)
        #expect(lab.content() == Self.content)
        #expect(lab.server.requests.first?.hasPrefix("CONNECT files.example:80 HTTP/1.1\r\n") == true)
        #expect(lab.server.requests.first?.contains("\r\nproxy-authorization: Basic bmFtZTpwYXNz\r\n") == true)
        let refused = "http_proxy=https://name:pass@proxy.example $R download http://127.0.0.1:1/a"
        try await Command.run(script: refused).expectRefusal(
            "http_proxy names a proxy that is neither http:// nor socks5://; use one of these schemes"
        )
    }

    @Test func `a download from an untrusted server fails immediately`() async throws {
        let server = try await TLSServer.start()
        let url = "--output x https://127.0.0.1:PORT/"
        let untrusted = try await server.run("download \(url)", environment: "SSL_CERT_FILE=stranger.pem")
        #expect(untrusted.status == 69)
        #expect(untrusted.errors.contains("cannot verify the server's certificate"))
        let lost = try await server.run("download \(url)", environment: "SSL_CERT_FILE=nowhere")
        #expect(lost == Self.failure(69, "cannot read SSL_CERT_FILE: nowhere does not exist"))
    }

    private static let digest = "362da23f293891e0aa41f9ba9470427edd5a3c962b9574affcba6a27bfea8207"
}
