import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// The curl(1) command line of a request, quoted for a shell.
struct CURLTextTests {
    @Test(arguments: [
        (URLRequest(text: "https://h/a?b=c&d"), "curl 'https://h/a?b=c&d'"),
        (
            URLRequest(text: "https://h/", method: .post, body: Data("it's".utf8)),
            #"curl -X POST -H Content-Type: --data-raw 'it'\''s' https://h/"#
        ),
        (
            URLRequest(text: "https://h/", method: .post, body: Data("'\u{301};id".utf8)),
            "curl -X POST -H Content-Type: --data-raw ''\\''\u{301};id' https://h/"
        ),
        (URLRequest(text: "https://h/", method: .head), "curl -I https://h/"),
        (
            URLRequest(text: "https://h/", headers: ["Authorization": "Bearer x", "A": "b"]),
            "curl -H 'Authorization: ***' -H 'A: b' https://h/"
        ),
        (
            URLRequest(text: "https://h/", headers: ["X-Api-Key": "x", "Cookie": "y", "X-Auth-Token": "z"]),
            "curl -H 'X-Api-Key: ***' -H 'Cookie: ***' -H 'X-Auth-Token: ***' https://h/"
        ),
        (URLRequest(text: "https://u:p@h/u:p@x"), "curl 'https://u:***@h/u:p@x'"),
        (URLRequest(text: "https://h/", headers: ["Empty": ""]), "curl -H 'Empty;' https://h/"),
        (URLRequest(text: "https://h/$(reboot)`x`\\\"!"), #"curl 'https://h/$(reboot)`x`\"!'"#),
        (
            URLRequest(text: "https://h/", method: .put, body: Data([0xff])),
            "curl -X PUT -H Content-Type: --data-binary @body-of-1-bytes https://h/"
        ),
        (
            URLRequest(text: "https://h/", method: .put, stream: [.file("/a b", length: 9)]),
            "curl -X PUT -H Content-Type: --data-binary '@/a b' https://h/"
        ),
    ])
    func `the curl command is quoted for a shell, and secrets are masked`(request: URLRequest, text: String) {
        #expect(request.cURLDescription() == text)
    }

    @Test func `secrets are shown on request`() {
        let request = URLRequest(text: "https://u:p@h/", headers: ["Authorization": "x"])
        #expect(request.cURLDescription(showingSecrets: true) == "curl -H 'Authorization: x' https://u:p@h/")
    }
}

/// Values that curl would interpret as patterns or options.
struct CURLPitfallTests {
    @Test(arguments: [
        (URLRequest(text: "https://[::1]/a{b}"), "curl -g 'https://[::1]/a{b}'"),
        (URLRequest(text: "-K/etc/passwd"), "curl --url -K/etc/passwd"),
        (
            URLRequest(text: "https://h/", headers: [.contentType("a/b")], body: Data([0x61])),
            "curl -X GET -H 'Content-Type: a/b' --data-raw a https://h/"
        ),
        (
            URLRequest(text: "https://h/", method: .head, body: Data([0x61])),
            "curl -X HEAD -H Content-Type: --data-raw a https://h/"
        ),
    ])
    func `curl does not misread any part of the command`(request: URLRequest, text: String) {
        #expect(request.cURLDescription() == text)
    }
}

extension URLRequest {
    fileprivate init(text: String, method: HTTPMethod, stream: [BodyPiece]) {
        self.init(text: text, method: method)
        httpBodyStream = InputStream(pieces: stream)
    }
}
