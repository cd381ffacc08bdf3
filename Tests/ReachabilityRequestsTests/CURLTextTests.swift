import LinuxSupport
import ReachabilityRequests
import Testing

/// The text of a command of curl(1), as a shell reads it.
struct CURLTextTests {
    @Test(arguments: [
        (OutgoingRequest(url: "https://h/a?b=c&d"), "curl 'https://h/a?b=c&d'"),
        (
            OutgoingRequest(url: "https://h/", method: .post, body: .bytes(Array("it's".utf8))),
            #"curl -X POST -H Content-Type: --data-raw 'it'\''s' https://h/"#
        ),
        (
            OutgoingRequest(url: "https://h/", method: .post, body: .bytes(Array("'\u{301};id".utf8))),
            "curl -X POST -H Content-Type: --data-raw ''\\''\u{301};id' https://h/"
        ),
        (OutgoingRequest(url: "https://h/", method: .head), "curl -I https://h/"),
        (
            OutgoingRequest(url: "https://h/", headers: ["Authorization": "Bearer x", "A": "b"]),
            "curl -H 'Authorization: ***' -H 'A: b' https://h/"
        ),
        (
            OutgoingRequest(url: "https://h/", headers: ["X-Api-Key": "x", "Cookie": "y", "X-Auth-Token": "z"]),
            "curl -H 'X-Api-Key: ***' -H 'Cookie: ***' -H 'X-Auth-Token: ***' https://h/"
        ),
        (OutgoingRequest(url: "https://u:p@h/u:p@x"), "curl 'https://u:***@h/u:p@x'"),
        (OutgoingRequest(url: "https://h/", headers: ["Empty": ""]), "curl -H 'Empty;' https://h/"),
        (OutgoingRequest(url: "https://h/$(reboot)`x`\\\"!"), #"curl 'https://h/$(reboot)`x`\"!'"#),
        (
            OutgoingRequest(url: "https://h/", method: .put, body: .bytes([0xff])),
            "curl -X PUT -H Content-Type: --data-binary @body-of-1-bytes https://h/"
        ),
        (
            OutgoingRequest(url: "https://h/", method: .put, body: .file("/a b")),
            "curl -X PUT -H Content-Type: --data-binary '@/a b' https://h/"
        ),
    ])
    func `words are quoted and secrets masked`(request: OutgoingRequest, text: String) {
        #expect(request.cURLDescription() == text)
    }

    @Test func `secrets are shown to who asks for them`() {
        let request = OutgoingRequest(url: "https://u:p@h/", headers: ["Authorization": "x"])
        #expect(request.cURLDescription(showingSecrets: true) == "curl -H 'Authorization: x' https://u:p@h/")
    }
}

/// What curl would read otherwise than it is meant.
struct CURLPitfallTests {
    @Test(arguments: [
        (OutgoingRequest(url: "https://[::1]/a{b}"), "curl -g 'https://[::1]/a{b}'"),
        (OutgoingRequest(url: "-K/etc/passwd"), "curl --url -K/etc/passwd"),
        (
            OutgoingRequest(url: "https://h/", headers: [.contentType("a/b")], body: .bytes([0x61])),
            "curl -X GET -H 'Content-Type: a/b' --data-raw a https://h/"
        ),
        (
            OutgoingRequest(url: "https://h/", method: .head, body: .bytes([0x61])),
            "curl -X HEAD -H Content-Type: --data-raw a https://h/"
        ),
    ])
    func `no part is taken for another`(request: OutgoingRequest, text: String) {
        #expect(request.cURLDescription() == text)
    }
}
