import ArgumentParser
import LinuxSupport
import ReachabilityOutbox
import Testing
import TrustForge

@testable import CommandLineSupport
@testable import ReachabilityRequests
@testable import reachability_tools

/// Headers and files in the arguments of `reachability outbox add`.
@Suite struct OutboxArgumentTests {
    @Test(arguments: ["A: 1\r\n\r\nB: 2\n", "A: 1\nB:2", "A:1\r\nB: 2\r\n"])
    func `headers are read from a file with any line ends`(text: String) throws {
        let directory = ScratchDirectory()
        let file = try directory.write("headers", text)
        #expect(try HeaderArgument(text: "@\(file)").headers.map { "\($0.name)=\($0.value)" } == ["A=1", "B=2"])
    }

    @Test func `a header without a colon is refused`() throws {
        #expect(try HeaderArgument(text: "A: \"q\\").headers.map(\.value) == ["\"q\\"])
        #expect(try HeaderArgument(text: "B:").headers.map(\.value) == [""])
        let refusal = Refusal.of { try HeaderArgument(text: "x").headers }
        #expect(refusal == Refusal("a header has no colon; write \"Name: value\""))
    }

    @Test(arguments: [
        ("no-such-file", "cannot read no-such-file: No such file or directory", ExitMessage.Status.noInput),
        (".", "cannot read .: Is a directory", .noInput),
        ("/dev/zero", "cannot read /dev/zero: it has more than 1048576 bytes", .usage),
    ])
    func `an unusable file is refused`(path: String, sentence: String, status: ExitMessage.Status) {
        #expect(Refusal.of { try ArgumentFile(path).bytes(limit: 1 << 20) } == Refusal(sentence, status))
        #expect(Refusal.of { try HeaderArgument(text: "@\(path)").headers } == Refusal(sentence, status))
    }

    @Test func `the former option --file still names the outbox`() throws {
        #expect(try OutboxFileArguments.parse(["--file", "a"]).file == "a")
        #expect(try OutboxFileArguments.parse(["--outbox", "a"]).file == "a")
    }

    @Test(arguments: [
        (OutboxSkip.notReachable(reason: "no interface"), "http://a: 1 left, not reachable: no interface"),
        (.notReachable(reason: nil), "http://a: 1 left, not reachable"),
        (.until(.seconds(1)), "http://a: 1 left, not before 1970-01-01T00:00:01.000Z, as the server requested"),
        (.behind(7), "http://a: 1 left, waiting for 7"),
    ])
    func `the line about remaining requests contains the reason`(skip: OutboxSkip, line: String) {
        #expect(OutboxEvent.skipped(origin: "http://a", count: 1, skip).line == line)
    }

    @Test(arguments: [
        (OutboxError.invalidRequest("x"), ExitMessage.Status.usage), (.full(file: "o", limit: "1"), .temporaryFailure),
        (.alreadySending(file: "o"), .temporaryFailure), (.busy(file: "o"), .temporaryFailure),
        (.corrupt(file: "o", keptAs: nil), .dataError), (.foreignFile("o"), .dataError),
        (.newerFormat("o"), .dataError),
        (.cannotOpen(file: "o", cause: "x"), .noInput), (.diskFull(file: "o"), .ioError),
        (.failed(file: "o", cause: "x"), .ioError),
    ])
    func `each error has an exit status`(error: OutboxError, status: ExitMessage.Status) {
        #expect(error.exitMessage.status == status && error.exitMessage.text == error.description)
    }
}

/// The parts of `reachability download` that need no server.
@Suite struct DownloadPartsTests {
    @Test(arguments: [
        (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "999.9 kB"), (1_000_000, "1.0 MB"),
        (270_040_000, "270.0 MB"), (12_300_000_000, "12.3 GB"), (Int64.max, "9223372.0 TB"),
    ])
    func `numbers of bytes are shortened`(bytes: Int64, text: String) { #expect(ByteText.text(bytes) == text) }

    @Test func `the progress line contains share, rate and remaining time`() {
        var line = ProgressLine()
        func text(_ completed: Int64, of total: Int64?, at seconds: Int, isWaiting: Bool = false) -> String {
            var step = Progress(totalUnitCount: total ?? -1)
            step.completedUnitCount = completed
            step.isWaitingForNetwork = isWaiting
            return line.text(step, at: .seconds(seconds))
        }
        #expect(text(0, of: 10_000_000, at: 0) == "  0 % [>                   ] 0 B of 10.0 MB")
        let half = "[==========>         ] 5.0 MB of 10.0 MB"
        #expect(text(5_000_000, of: 10_000_000, at: 5) == " 50 % \(half), 1.0 MB/s, 5 s left")
        // No data has arrived for the whole period.
        #expect(text(5_000_000, of: 10_000_000, at: 10) == " 50 % \(half), 0 B/s")
        let waiting = text(5_000_000, of: 10_000_000, at: 11, isWaiting: true)
        #expect(waiting == "waiting for the network; 5.0 MB received")
        #expect(text(5_000_000, of: 10_000_000, at: 20) == " 50 % \(half)")
        #expect(text(1_000_000, of: 10_000_000, at: 21).hasSuffix("1.0 MB of 10.0 MB"))
        #expect(text(1_000_000, of: nil, at: 22) == "1.0 MB, 0 B/s")
        #expect(text(1_000_001, of: .max, at: 400).count <= 79)
        #expect(text(2_000_000, of: 1_000_000, at: 401).hasPrefix("100 % [====================] 2.0 MB of 1.0 MB"))
    }

    @Test(arguments: [
        ("http://h/a/image.iso?x=/y#z", "image.iso"), ("https://h/a%20b", "a b"), ("http://h/%e2%82%ac.txt", "€.txt"),
    ])
    func `the name of the file is the last part of the URL`(url: String, name: String) throws {
        #expect(try DownloadURL(url).fileName() == name)
    }

    @Test func `name and password are sent as credentials, and not in the URL`() throws {
        let plan = try DownloadPlan(try DownloadArguments.parse(["http://na%20me:pass@h/file"]))
        #expect(plan.url.text == "http://h/file")
        #expect(plan.headers.value(for: "Authorization") == "Basic bmEgbWU6cGFzcw==")
    }

    @Test(arguments: [
        "", "/", "/a/", "/.hidden", "/..", "/%2e%2e", "/a%2fb", "/%00", "/a%1b", "/%ff", "/%", "/?a=b",
        "/" + String(repeating: "a", count: 246),
    ])
    func `a last part that is not a safe name is refused`(path: String) {
        let url = "http://127.0.0.1:1\(path)"
        let sentence = "the last part of \"\(url.secretsMasked)\" cannot be a file name; give one with --output"
        #expect(Self.refusal([url]) == Refusal(sentence))
    }

    @Test(arguments: [
        ("ftp://h/a", "has the scheme ftp, not http or https"),
        ("file:///etc/passwd", "has the scheme file, not http or https"),
        ("h/a", nil), ("/a", nil), ("http:///a", nil), ("", nil), ("://h", nil), ("http://u:hush@h:0/?hush", nil),
    ])
    func `a URL of another scheme is refused`(text: String, reason: String?) {
        let sentence =
            "\"\(text.secretsMasked)\" \(reason ?? "is not a URL of http or https"); write https://example.org/image.iso"
        #expect(Self.refusal(["--", text]) == Refusal(sentence))
    }

    @Test(arguments: [
        (["--sha256", "abc"], "--sha256 takes 64 hexadecimal digits, as sha256sum prints them"),
        (["--output", ""], "--output takes the path of a file"),
        (["--output", "-"], "--output cannot be standard output; --output ./- is a file with this name"),
        (["--deadline", "0s"], "--deadline takes more than 0"),
    ])
    func `an invalid option is refused`(words: [String], sentence: String) {
        #expect(Self.refusal(words + ["http://127.0.0.1:1/a"]) == Refusal(sentence))
    }

    private static func refusal(_ words: [String]) -> Refusal? {
        Refusal.of { try DownloadPlan(try DownloadArguments.parse(words)) }
    }
}

/// The arguments of `reachability pin` and `reachability trust`.
@Suite struct ServerAddressTests {
    @Test(arguments: [
        ("example.org", "example.org", 443), ("192.0.2.1:8443", "192.0.2.1", 8443), ("2001:db8::1", "2001:db8::1", 443),
        ("[2001:db8::1]:8443", "2001:db8::1", 8443), ("[0:0::1]:1", "0:0::1", 1),
    ])
    func `a server is a host with or without a port`(text: String, host: String, port: Int) throws {
        let address = try ServerAddress(text)
        #expect(address.host == host && address.port == port)
    }

    @Test(arguments: [
        "", "https://example.org", "example.org/", "example.org:", "example.org:0", "example.org:65536",
        "example.org:+1", "example.org:https", "[::1", "[::1]443", "[192.0.2.1]:443", "[]:1", ":443", "a b", "1.2.3",
        "a:1:2", "*.example.org",
    ])
    func `a text that is not a server is refused`(text: String) {
        let sentence =
            "\"\(text)\" is not a server; write example.org, 192.0.2.1:8443 or [2001:db8::1]:443, without scheme or path"
        #expect(Refusal.of { try ServerAddress(text) } == Refusal(sentence))
    }

    @Test func `a file without a certificate is not usable for --anchors`() throws {
        let directory = ScratchDirectory()
        let files = [
            try directory.write("key.pem", TrustWorld.leaf.key), try directory.write("empty.pem", ""), "/dev/null",
            try directory.write("garbage.pem", "\u{1b}[2Jno certificate\n"),
            try directory.write("garbage.der", "0\u{3}abc"),
            try directory.write("damaged.pem", PEM.text([Array(TrustWorld.root.der.dropLast(9))])),
        ]
        for file in files {
            let sentence =
                "cannot use \(file): it has no readable certificate; --anchors takes certificates in PEM or DER"
            #expect(Refusal.of { try AnchorFile.read(file) } == Refusal(sentence, .dataError))
        }
        for (file, cause) in [("/nowhere/a", "No such file or directory"), ("/", "Is a directory")] {
            let sentence = "cannot read the anchors in \(file): \(cause)"
            #expect(Refusal.of { try AnchorFile.read(file) } == Refusal(sentence, .noInput))
        }
    }

    @Test(arguments: [
        ("ftp://h/", "the scheme is ftp, not http"), ("127.0.0.1:9672", "it has no scheme"),
        ("http://", "it has no valid host"),
        ("http://h:0", "the port is not a number from 1 to 65535"), ("http://[::1", "it has no valid host"),
        ("http://u:hush@h/?hush", "a user name, a query, a space or a character outside ASCII is not allowed"),
    ])
    func `an unusable URL of a service is quoted with the reason`(url: String, reason: String) {
        let sentence = "cannot use \"\(url.secretsMasked)\": \(reason); write http://127.0.0.1:9672, for example"
        #expect(Refusal.of { try ServiceURL(url) } == Refusal(sentence))
    }

    @Test func `https is refused because the command does not support TLS`() throws {
        let hint = "use an HTTPS client such as curl, or run the command on the service's machine"
        #expect(
            Refusal.of { try ServiceURL("https://h/") }
                == Refusal("cannot use \"https://h/\": this command does not support TLS; \(hint)")
        )
        let url = try ServiceURL("http://[2001:db8::1]:9672/a/")
        #expect((url.host, url.port, url.authority) == ("2001:db8::1", 9672, "[2001:db8::1]:9672") && url.path == "/a")
        #expect(try ServiceURL("http://h") == ServiceURL("HTTP://h/"))
    }
}
