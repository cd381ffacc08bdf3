import NetworkLab
import ServerTrust
import SwiftASN1
import TrustForge
import X509

/// An authority whose responses and lists are created by `openssl ocsp` and `openssl ca`. They have the current time,
/// so the certificates do, too.
struct OpenSSLAuthority {
    let root: Forged
    let leaf: Forged
    let responder: Forged
    private let directory: ScratchDirectory

    init() throws {
        root = Blueprint.authority("OpenSSL Root").current.signed()
        let extensions = RevocationWorld.extensions(responders: [RevocationWorld.responder])
        leaf = Blueprint.leaf().current.with(\.more, extensions).signed(by: root)
        responder = RevocationWorld.delegate({ $0 = $0.current }, by: root)
        directory = ScratchDirectory()
        try directory.write("root.pem", PEM.text([root.der]))
        try directory.write("root.key", try root.key.key.serializeAsPEM().pemString + "\n")
        try directory.write("responder.pem", PEM.text([responder.der]))
        try directory.write("responder.key", try responder.key.key.serializeAsPEM().pemString + "\n")
        try directory.write(
            "ca.conf",
            "[ca]\ndefault_ca = own\n[own]\ndatabase = \(directory.path)/index\ndefault_md = sha256\n"
                + "certificate = \(directory.path)/root.pem\nprivate_key = \(directory.path)/root.key\n"
                + "default_crl_days = 1\n"
        )
    }

    /// Returns the response to a request, signed by the root or by the responder. A nil `reason` means that the
    /// certificate is good.
    func response(to request: [UInt8], reason: String?, isDelegated: Bool) throws -> [UInt8] {
        try writeIndex(reason)
        let signer = isDelegated ? "responder" : "root"
        return try run([
            "ocsp", "-index", "\(directory.path)/index", "-CA", "\(directory.path)/root.pem",
            "-rsigner", "\(directory.path)/\(signer).pem", "-rkey", "\(directory.path)/\(signer).key",
            "-reqin", try directory.write("request", request), "-respout", "\(directory.path)/out", "-ndays", "1",
        ])
    }

    /// Returns the list in PEM.
    func list(reason: String?) throws -> [UInt8] {
        try writeIndex(reason)
        return try run(["ca", "-config", "\(directory.path)/ca.conf", "-gencrl", "-out", "\(directory.path)/out"])
    }

    private func run(_ arguments: [String]) throws -> [UInt8] {
        let result = try LabProcess("openssl", arguments).wait()
        guard result.status == 0 else { throw LabError.system("openssl: \(result.errors)", result.status) }
        return try directory.read("out")
    }

    /// Writes the database of `openssl ca`: status, expiry, revocation, serial number, file and subject.
    private func writeIndex(_ reason: String?) throws {
        let serialNumber = leaf.x509.serialNumber.bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
        let status = reason.map { "R\t991231235959Z\t260101000000Z,\($0)" } ?? "V\t991231235959Z\t"
        try directory.write("index", "\(status)\t\(serialNumber)\tunknown\t/O=Forge/CN=example.org\n")
        try directory.write("index.attr", "unique_subject = no\n")
    }
}
