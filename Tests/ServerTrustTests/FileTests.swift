import Foundation
import ServerTrust
import Testing
import TrustForge

/// Certificates from files, and the locations of the system's roots.
@Suite struct FileTests {
    @Test func `certificates are read from the .cer, .crt, .der and .pem files of a directory`() throws {
        let directory = ScratchDirectory()
        try directory.write("a.cer", World.leaf.der)
        try directory.write("b.CRT", World.intermediate.der)
        try directory.write("c.Der", World.root.der)
        try directory.write("d.pem", PEM.text([World.strangeRoot.der, World.rsaRoot.der]))
        try directory.write("e.pem", PEM.text([World.leaf.der]))
        try directory.write("f.txt", World.rsaLeaf.der)
        try directory.write("g.pem", "-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n")
        try directory.write("h.cer/i.cer", World.rsaLeaf.der)
        try #require(mkfifo("\(directory.path)/j.pem", 0o600) == 0)
        let expected = [World.leaf, World.intermediate, World.root, World.strangeRoot, World.rsaRoot]
        #expect(ServerTrustPolicy.certificates(in: directory.path) == expected.map(\.certificate))
        #expect(ServerTrustPolicy.publicKeys(in: directory.path) == expected.map(\.certificate.publicKey))
        #expect(ServerTrustPolicy.certificates(in: directory.path + "/none").isEmpty)
        #expect(throws: TrustCertificateError.file(path: "/nowhere", cause: "No such file or directory")) {
            try CertificateFiles.read(directory: "/nowhere")
        }
    }

    @Test func `other text in a bundle of certificates is skipped`() throws {
        let directory = ScratchDirectory()
        let text =
            "# a comment\r\n" + PEM.text([World.root.der]).replacingOccurrences(of: "\n", with: "\r\n")
            + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
            + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\n"
            + PEM.text([World.leaf.der]) + "\u{ff}"
        let file = try directory.write("bundle.pem", text)
        #expect(try CertificateFiles.read(file) == [World.root.certificate, World.leaf.certificate])
    }

    @Test(arguments: [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
        "/etc/ssl/certs/Forge_Root.pem", "/etc/ssl/certs/5ed36f99.0",
    ])
    func `the system roots are found at the paths of each distribution`(_ path: String) throws {
        let root = ScratchDirectory()
        try root.write(path, PEM.text([World.root.der, World.rsaRoot.der]))
        let anchors = SystemAnchors(file: nil, directories: nil, root: root.path).anchors
        #expect(Set(anchors.certificates) == [World.root.certificate, World.rsaRoot.certificate])
    }

    @Test func `SSL_CERT_FILE and SSL_CERT_DIR replace the system roots`() throws {
        let root = ScratchDirectory()
        try root.write("etc/ssl/certs/ca-certificates.crt", PEM.text([World.rsaRoot.der]))
        let file = try root.write("own.pem", PEM.text([World.root.der]))
        try root.write("one/a.pem", PEM.text([World.strangeRoot.der]))
        try root.write("two/5ed36f99.0", PEM.text([World.intermediate.der]))
        let directories = "\(root.path)/one:\(root.path)/missing:\(root.path)/two"
        func found(_ file: String?, _ directories: String?) -> Set<TrustCertificate> {
            Set(SystemAnchors(file: file, directories: directories, root: root.path).anchors.certificates)
        }
        #expect(found(file, nil) == [World.root.certificate])
        #expect(found(nil, directories) == [World.strangeRoot.certificate, World.intermediate.certificate])
        #expect(found(file, directories).count == 3)
        #expect(found("\(root.path)/missing.pem", nil).isEmpty)
    }

    @Test func `missing system roots are reported with their paths`() throws {
        let root = ScratchDirectory()
        var trust = try TrustCase("any") { _ in }.trust()
        trust.anchors = SystemAnchors(file: nil, directories: nil, root: root.path).anchors
        guard case .noAnchors(let detail) = DefaultTrustEvaluator().reason(trust) else {
            Issue.record("another reason")
            return
        }
        #expect(detail.contains("\(root.path)/etc/ssl/certs"))
        #expect(detail.hasSuffix("install ca-certificates, or set SSL_CERT_FILE"))
    }

    @Test func `added anchors are not duplicated`() {
        let anchors = TrustAnchors([World.root.certificate]).adding([World.rsaRoot.certificate, World.root.certificate])
        #expect(anchors.count == 2)
    }

    /// A root that cannot be read would be missing without an error.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/etc/ssl/certs/ca-certificates.crt")))
    func `every root of this machine is read`() throws {
        let file = "/etc/ssl/certs/ca-certificates.crt"
        let blocks =
            try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "BEGIN CERTIFICATE").count - 1
        #expect(try CertificateFiles.read(file).count == blocks)
    }
}
