import FoundationEssentials
import LinuxSupport
import NetworkLab
import ReachabilityAlamofire
import Testing
import TrustForge
import WebLab

import class Foundation.Bundle
import struct Foundation.CharacterSet

/// Members with types of Foundation, and settings that Alamofire has.
struct FoundationTypeTests {
    @Test func `an encoder accepts a character set of Foundation`() throws {
        #expect(
            try URLEncodedFormEncoder(allowedCharacters: .afURLQueryAllowed).encode(["k": "a/?=é"]) == "k=a/?%3D%C3%A9"
        )
        #expect(try URLEncodedFormEncoder(allowedCharacters: .alphanumerics).encode(["k": "a/é"]) == "k=a%2F%C3%A9")
        #expect(CharacterSet.afURLQueryAllowed.contains("/") && !CharacterSet.afURLQueryAllowed.contains("&"))
    }

    @Test func `the default header fields are those of the client`() {
        #expect(HTTPHeader.defaultAcceptEncoding.value == "gzip;q=1.0, deflate;q=0.9")
        let headers: HTTPHeaders = [.defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent]
        #expect(headers.count == 3 && HTTPHeaders.default.count == 2)
    }

    @Test func `a bundle has the certificates in its resources`() throws {
        #expect(Bundle.main.af.certificates.count == Bundle.main.af.publicKeys.count)
        let identity = WebIdentity.selfSigned(for: "127.0.0.1")
        let folder = ScratchDirectory()
        let certificate = identity.chain[0].certificate
        try Data(certificate.derRepresentation).write(to: URL(filePath: folder.path + "/pin.der"))
        let bundle = try #require(Bundle(path: folder.path))
        #expect(bundle.af.certificates.map(\.derRepresentation) == [certificate.derRepresentation])
        #expect(bundle.af.publicKeys == [certificate.publicKey])
    }

    @Test func `options of JSON are accepted`() async throws {
        let server = try ScriptedServer { _ in .status(200, body: Array(#"{"a":[1]}"#.utf8)) }
        defer { server.stop() }
        let value = await withCheckedContinuation { continuation in
            AF.request(server.url("/")).responseJSON(options: .mutableContainers) { response in
                continuation.resume(returning: "\((response.value as? [String: Any])?["a"] ?? "-")")
            }
        }
        #expect(value == "[1]")
        let serializer = JSONResponseSerializer(options: [.fragmentsAllowed])
        let fragment = try serializer.serialize(request: nil, response: nil, data: Data("7".utf8), error: nil)
        #expect(fragment as? Int == 7)
    }

    @Test func `a session can be changed so that requests wait for resume`() {
        let (session, url) = (Session(), "https://example.org/")
        session.startRequestsImmediately = false
        #expect(!session.startRequestsImmediately && session.request(url).isInitialized)
        #expect(session.request(url).response { _ in }.isInitialized)
    }
}
