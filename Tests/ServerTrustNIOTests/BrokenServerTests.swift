import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge

/// Servers that violate TLS.
@Suite struct BrokenServerTests {
    /// The behaviour of a server after a client has connected.
    enum Deed: CaseIterable {
        case close
        case closeAfterHello
        case garbage
        case plainText
        case halfRecord
        case alert

        /// The bytes after the ClientHello.
        var answer: [UInt8] {
            switch self {
            case .close, .closeAfterHello: []
            case .garbage: (0..<500).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 37) }
            case .plainText: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
            // The beginning of a ServerHello of 512 bytes.
            case .halfRecord: [0x16, 0x03, 0x03, 0x02, 0x00, 0x02, 0x00, 0x01, 0xfc]
            // handshake_failure (RFC 8446, section 6).
            case .alert: [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]
            }
        }
    }

    @Test(arguments: Deed.allCases)
    func `a broken handshake ends with an error`(_ deed: Deed) async throws {
        let server = try ScriptedServer.perConnection { connection in
            guard deed != .close, !connection.receive().isEmpty else { return }
            connection.send(deed.answer)
        }
        let factory = try TrustClient.factory(TrustCase("") { $0.evaluator = DisabledTrustEvaluator() })
        let outcome = try await TrustClient.connect(
            factory,
            host: World.host,
            port: server.port
        )
        #expect(outcome.otherError != nil, "\(outcome.handshake)")
        #expect(outcome.greeting == nil)
        #expect(throws: (any Error).self) { try outcome.written.get() }
        server.stop()
    }
}
