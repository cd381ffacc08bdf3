import CommandLineSupport
import Testing
import TrustForge

@testable import reachability_tools

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
    func `other texts are refused`(text: String) {
        let sentence =
            "\"\(text)\" is no server: write example.org, 192.0.2.1:8443 or [2001:db8::1]:443, without scheme or path"
        #expect(Refusal.of { try ServerAddress(text) } == Refusal(sentence))
    }

    @Test func `a file without a certificate has no anchors`() throws {
        let directory = try ScratchDirectory()
        let files = [
            try directory.write("key.pem", TrustWorld.leaf.key), try directory.write("empty.pem", ""), "/dev/null",
            try directory.write("garbage.pem", "\u{1b}[2Jno certificate\n"),
            try directory.write("garbage.der", "0\u{3}abc"),
            try directory.write("damaged.pem", PEM.text([Array(TrustWorld.root.der.dropLast(9))])),
        ]
        for file in files {
            let sentence = "\(file) has no certificate that can be read: --anchors takes certificates in PEM or DER"
            #expect(Refusal.of { try AnchorFile.read(file) } == Refusal(sentence, .dataError))
        }
        for (file, cause) in [("/nowhere/a", "No such file or directory"), ("/", "Is a directory")] {
            let sentence = "cannot read the anchors in \(file): \(cause)"
            #expect(Refusal.of { try AnchorFile.read(file) } == Refusal(sentence, .noInput))
        }
    }
}
