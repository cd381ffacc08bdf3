import NetworkLab
import ServerTrust
import SwiftASN1
import TrustForge
import X509

/// An authority whose responses and lists are made by `openssl ocsp` and `openssl ca`: they are from now, so its certificates are, too.
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
        directory = try ScratchDirectory()
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

    /// Its answer to a request, signed by itself or by its responder; nil `reason` is good.
    func response(to request: [UInt8], reason: String?, isDelegated: Bool) throws -> [UInt8] {
        try writeIndex(reason)
        let signer = isDelegated ? "responder" : "root"
        return try run([
            "ocsp", "-index", "\(directory.path)/index", "-CA", "\(directory.path)/root.pem",
            "-rsigner", "\(directory.path)/\(signer).pem", "-rkey", "\(directory.path)/\(signer).key",
            "-reqin", try directory.write("request", request), "-respout", "\(directory.path)/out", "-ndays", "1",
        ])
    }

    /// Its list in PEM.
    func list(reason: String?) throws -> [UInt8] {
        try writeIndex(reason)
        return try run(["ca", "-config", "\(directory.path)/ca.conf", "-gencrl", "-out", "\(directory.path)/out"])
    }

    private func run(_ arguments: [String]) throws -> [UInt8] {
        let result = try LabProcess("openssl", arguments).wait()
        guard result.status == 0 else { throw LabError.system("openssl: \(result.errors)", result.status) }
        return try directory.read("out")
    }

    /// The text file that `openssl ca` keeps: status, end, revocation, serial number, file and subject.
    private func writeIndex(_ reason: String?) throws {
        let serialNumber = leaf.x509.serialNumber.bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
        let status = reason.map { "R\t991231235959Z\t260101000000Z,\($0)" } ?? "V\t991231235959Z\t"
        try directory.write("index", "\(status)\t\(serialNumber)\tunknown\t/O=Forge/CN=example.org\n")
        try directory.write("index.attr", "unique_subject = no\n")
    }
}
