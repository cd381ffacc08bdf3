import Foundation
import Glibc
import NIOSSL
import NetworkLab

/// A key and a certificate for the loopback address that signs itself, made by `openssl`.
struct Certificate {
    static let isPossible = access("/usr/bin/openssl", X_OK) == 0

    let key: NIOSSLPrivateKey
    let certificate: NIOSSLCertificate

    init() throws {
        let key = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: key) }
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key]
        let name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-days", "2"]
        let result = try LabProcess("openssl", ["req", "-x509"] + curve + name).wait()
        guard result.status == 0 else { throw LabError("openssl: \(result.errors)") }
        self.key = try NIOSSLPrivateKey(file: key, format: .pem)
        certificate = try NIOSSLCertificate(bytes: Array(result.output.utf8), format: .pem)
    }

    func serverContext(protocols: [String]) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)],
            privateKey: .privateKey(key)
        )
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}
