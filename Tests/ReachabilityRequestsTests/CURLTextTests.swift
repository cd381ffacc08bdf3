import FoundationEssentials
import LinuxSupport
import Testing

import class Foundation.Pipe
import class Foundation.Process

@testable import ReachabilityRequests

/// The curl(1) command line of a request, quoted for a shell.
struct CURLTextTests {
    @Test(arguments: [
        (URLRequest(text: "https://h/a?b=c&d"), ["-X GET", #""https://h/a?b=c&d""#]),
        (
            URLRequest(text: "https://h/", method: .post, body: Data("it's".utf8)),
            ["-X POST", #"-H "Content-Type:""#, #"-d "it's""#, #""https://h/""#]
        ),
        (
            URLRequest(text: "https://h/", method: .post, body: Data("\"\u{301};id".utf8)),
            ["-X POST", #"-H "Content-Type:""#, "-d \"\\\"\u{301};id\"", #""https://h/""#]
        ),
        (
            URLRequest(text: "https://h/", method: .post, body: Data("@/etc/passwd".utf8)),
            ["-X POST", #"-H "Content-Type:""#, #"--data-raw "@/etc/passwd""#, #""https://h/""#]
        ),
        (URLRequest(text: "https://h/", method: .head), ["-I", #""https://h/""#]),
        (URLRequest(text: "https://h/", method: HTTPMethod(rawValue: "A;B")), [#"-X "A;B""#, #""https://h/""#]),
        (
            URLRequest(text: "https://h/", headers: ["Authorization": "Bearer x", "A": "b"]),
            ["-X GET", #"-H "Authorization: ***""#, #"-H "A: b""#, #""https://h/""#]
        ),
        (
            URLRequest(text: "https://h/", headers: ["X-Api-Key": "x", "Cookie": "y", "X-Auth-Token": "z"]),
            [
                "-X GET", #"-H "X-Api-Key: ***""#, #"-H "Cookie: ***""#, #"-H "X-Auth-Token: ***""#, #""https://h/""#,
            ]
        ),
        (
            URLRequest(text: "https://h/", headers: ["A": "b", "Cookie": "y=1; z=2"]),
            ["-X GET", #"-b "y=***; z=***""#, #"-H "A: b""#, #""https://h/""#]
        ),
        (URLRequest(text: "https://u:p@h/u:p@x"), ["-X GET", #""https://u:***@h/u:p@x""#]),
        (URLRequest(text: "https://h/", headers: ["Empty": ""]), ["-X GET", #"-H "Empty;""#, #""https://h/""#]),
        (URLRequest(text: "https://h/$(reboot)`x`\\\""), ["-X GET", #""https://h/\$(reboot)\`x\`\\\"""#]),
        (URLRequest(text: "https://h/it's!"), ["-X GET", #"'https://h/it'\''s!'"#]),
        (
            URLRequest(text: "https://h/", method: .put, body: Data([0xff])),
            ["-X PUT", #"-H "Content-Type:""#, #"--data-binary "@body-of-1-bytes""#, #""https://h/""#]
        ),
        (
            URLRequest(text: "https://h/", method: .put, body: Data("\u{1b}[2J".utf8)),
            ["-X PUT", #"-H "Content-Type:""#, #"--data-binary "@body-of-4-bytes""#, #""https://h/""#]
        ),
        (
            URLRequest(text: "https://h/", method: .put, stream: [.file("/a b", length: 9)]),
            ["-X PUT", #"-H "Content-Type:""#, #"--data-binary "@/a b""#, #""https://h/""#]
        ),
    ])
    func `the curl command is quoted for a shell, and secrets are masked`(request: URLRequest, parts: [String]) {
        #expect(request.cURLDescription() == command(parts))
    }

    @Test func `secrets are shown on request`() {
        let request = URLRequest(text: "https://u:p@h/", headers: ["Authorization": "x", "Cookie": "a=1;b=2"])
        let parts = ["-X GET", #"-b "a=1;b=2""#, #"-H "Authorization: x""#, #""https://u:p@h/""#]
        #expect(request.cURLDescription(showingSecrets: true) == command(parts))
    }

    @Test func `a shell reads the exact values`() throws {
        let values = [
            "a b", "$HOME", "`id`", "$(id)", "\\", "\\\\n", "\"", "'", "'\"'", "\\\"", "!!", "a!'\"$`\\", "a\nb\tc",
            "\\\n", "é\u{301}",
            "*", "~", "#", "&;|<>(){}[]", "\"\u{301}", "$'x'", "%s%%", "-n",
        ]
        for value in values {
            let url = "https://h/\(value)"
            var request = URLRequest(text: url, method: .post, body: Data(value.utf8))
            request.headers = [HTTPHeader(name: "Own", value: value), .contentType(value)]
            let text = request.cURLDescription(showingSecrets: true)
            let script = #"curl() { for word in "$@"; do printf '%s\0' "$word"; done; }; "# + text.dropFirst(2)
            let words = try output(of: script).split(separator: 0, omittingEmptySubsequences: false).dropLast()
            let hasPattern = url.contains { "[]{}".contains($0) }
            #expect(
                words.map { String(decoding: $0, as: UTF8.self) } == [
                    "-v", "-X", "POST", "-H", "Own: \(value)", "-H", "Content-Type: \(value)", "-d", value,
                ] + (hasPattern ? ["-g"] : []) + [url],
                "\(text)"
            )
        }
    }

    /// The output of a script for sh(1).
    private func output(of script: String) throws -> [UInt8] {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardOutput = pipe
        try process.run()
        defer { process.waitUntilExit() }
        return [UInt8](try pipe.fileHandleForReading.readToEnd() ?? Data())
    }
}

/// The text of a command.
private func command(_ parts: [String]) -> String { (["$ curl -v"] + parts).joined(separator: " \\\n\t") }

/// Values that curl would interpret as patterns or options.
struct CURLPitfallTests {
    @Test(arguments: [
        (URLRequest(text: "https://[::1]/a{b}"), ["-X GET", "-g", #""https://[::1]/a{b}""#]),
        (URLRequest(text: "-K/etc/passwd"), ["-X GET", "--url", #""-K/etc/passwd""#]),
        (
            URLRequest(text: "https://h/", headers: [.contentType("a/b")], body: Data([0x61])),
            ["-X GET", #"-H "Content-Type: a/b""#, #"-d "a""#, #""https://h/""#]
        ),
        (
            URLRequest(text: "https://h/", method: .head, body: Data([0x61])),
            ["-X HEAD", #"-H "Content-Type:""#, #"-d "a""#, #""https://h/""#]
        ),
    ])
    func `curl does not misread any part of the command`(request: URLRequest, parts: [String]) {
        #expect(request.cURLDescription() == command(parts))
    }
}

extension URLRequest {
    fileprivate init(text: String, method: HTTPMethod, stream: [BodyPiece]) {
        self.init(text: text, method: method)
        httpBodyStream = InputStream(pieces: stream)
    }
}
