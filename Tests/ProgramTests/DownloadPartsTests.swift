import ArgumentParser
import CommandLineSupport
import Testing

@testable import ReachabilityRequests
@testable import reachability_tools

/// The parts of `reachability download` that need no server.
@Suite struct DownloadPartsTests {
    @Test(arguments: [
        (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_999, "999.9 kB"), (1_000_000, "1.0 MB"),
        (270_040_000, "270.0 MB"), (12_300_000_000, "12.3 GB"), (Int64.max, "9223372.0 TB"),
    ])
    func `numbers of bytes`(bytes: Int64, text: String) { #expect(ByteText.text(bytes) == text) }

    @Test func `a line tells how far it is, how fast and how long it will take`() {
        var line = ProgressLine()
        func text(_ completed: Int64, of total: Int64?, at seconds: Int, isWaiting: Bool = false) -> String {
            var step = DownloadProgress(completed: completed, total: total)
            step.isWaitingForNetwork = isWaiting
            return line.text(step, at: .seconds(seconds))
        }
        #expect(text(0, of: 10_000_000, at: 0) == "  0 % [>                   ] 0 B of 10.0 MB")
        let half = "[==========>         ] 5.0 MB of 10.0 MB"
        #expect(text(5_000_000, of: 10_000_000, at: 5) == " 50 % \(half), 1.0 MB/s, 5 s left")
        // For a whole window nothing has come.
        #expect(text(5_000_000, of: 10_000_000, at: 10) == " 50 % \(half), 0 B/s")
        let waiting = text(5_000_000, of: 10_000_000, at: 11, isWaiting: true)
        #expect(waiting == "waiting for the network; 5.0 MB are here")
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

    @Test(arguments: [
        "", "/", "/a/", "/.hidden", "/..", "/%2e%2e", "/a%2fb", "/%00", "/a%1b", "/%ff", "/%", "/?a=b",
        "/" + String(repeating: "a", count: 246),
    ])
    func `a last part that is not a safe name is refused`(path: String) {
        let url = "http://127.0.0.1:1\(path)"
        let sentence = "the last part of \"\(url)\" is no name for a file: give one with --output"
        #expect(Self.refusal([url]) == Refusal(sentence))
    }

    @Test(arguments: [
        ("ftp://h/a", "has the scheme ftp, not http or https"),
        ("file:///etc/passwd", "has the scheme file, not http or https"),
        ("h/a", nil), ("/a", nil), ("http:///a", nil), ("", nil), ("://h", nil),
    ])
    func `a URL of another scheme is refused`(text: String, reason: String?) {
        let sentence = "\"\(text)\" \(reason ?? "is no URL of http or https"): write https://example.org/image.iso"
        #expect(Self.refusal(["--", text]) == Refusal(sentence))
    }

    @Test(arguments: [
        (["--sha256", "abc"], "--sha256 wants 64 hexadecimal digits, as sha256sum prints them"),
        (["--output", ""], "--output names no file"),
        (["--output", "-"], "a download becomes a file: --output ./- is one of that name"),
        (["--deadline", "0s"], "--deadline must be more than nothing"),
    ])
    func `a wrong option is refused`(words: [String], sentence: String) {
        #expect(Self.refusal(words + ["http://127.0.0.1:1/a"]) == Refusal(sentence))
    }

    private static func refusal(_ words: [String]) -> Refusal? {
        Refusal.of { try DownloadPlan(try DownloadArguments.parse(words)) }
    }
}
