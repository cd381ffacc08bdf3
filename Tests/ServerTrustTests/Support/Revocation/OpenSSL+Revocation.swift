import NetworkLab
import ServerTrust
import SwiftASN1
import TrustForge

extension OpenSSL {
    /// The verdict of openssl about the server's certificate.
    enum Opinion: String {
        case good, revoked, refuses

        /// Returns whether a verdict of ServerTrust is the same.
        func isSame(as verdict: TrustCase.Verdict) -> Bool {
            switch verdict {
            case .trusted: self == .good
            case .refused(.revoked): self == .revoked
            case .refused: self == .refuses
            }
        }
    }

    static func opinion(_ revocation: RevocationCase) throws -> Opinion {
        revocation.list == nil ? try opinionOfResponse(revocation) : try opinionOfList(revocation)
    }

    /// Returns an OCSP request as openssl prints it.
    static func text(ofRequest request: [UInt8]) throws -> String {
        let directory = ScratchDirectory()
        let file = try directory.write("request", request)
        return try LabProcess("openssl", ["ocsp", "-reqin", file, "-req_text"]).wait().output
    }

    /// Returns the verdict about a stapled response. `openssl ocsp` compares responses only with the current time, so
    /// the response is created for now. The certificates are verified at the time of the test.
    private static func opinionOfResponse(_ revocation: RevocationCase) throws -> Opinion {
        let directory = ScratchDirectory()
        let issuer = revocation.chain.count > 1 ? revocation.chain[1] : revocation.anchor
        let response = revocation.stapledBytes ?? revocation.stapled?.der(at: .now) ?? []
        let arguments = [
            "ocsp", "-respin", try directory.write("response", response),
            "-CAfile", try directory.write("anchor.pem", PEM.text([revocation.anchor.der])),
            "-issuer", try directory.write("issuer.pem", PEM.text([issuer.der])),
            revocation.stapled?.digest == .sha256 ? "-sha256" : "-sha1",
            "-cert", try directory.write("leaf.pem", PEM.text([revocation.chain[0].der])),
            "-no_nonce", "-attime", String(World.now.secondsSinceEpoch), "-auth_level", "2",
        ]
        let result = try LabProcess("openssl", arguments).wait()
        let isVerified = result.status == 0 && result.errors.contains("Response verify OK")
        guard isVerified, !result.output.contains("WARNING") else { return .refuses }
        if result.output.contains("leaf.pem: revoked") { return .revoked }
        return result.output.contains("leaf.pem: good") ? .good : .refuses
    }

    private static func opinionOfList(_ revocation: RevocationCase) throws -> Opinion {
        let directory = ScratchDirectory()
        let arguments = [
            "verify", "-crl_check", "-CRLfile", try directory.write("list.pem", revocation.list?.pem() ?? ""),
            "-purpose", "sslserver", "-auth_level", "2", "-no-CApath", "-no-CAstore",
            "-attime", String(World.now.secondsSinceEpoch),
            "-CAfile", try directory.write("anchor.pem", PEM.text([revocation.anchor.der])),
            try directory.write("leaf.pem", PEM.text([revocation.chain[0].der])),
        ]
        let result = try LabProcess("openssl", arguments).wait()
        if result.errors.contains("certificate revoked") { return .revoked }
        return result.status == 0 ? .good : .refuses
    }
}
