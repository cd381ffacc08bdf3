import LinuxSupport
import ServerTrust
import Testing
import TrustForge

@testable import ReachabilityFleetAgent

/// An authority in a directory of files.
@Suite struct AuthorityDirectoryTests {
    private static func make(in scratch: ScratchDirectory) throws -> AuthorityDirectory {
        try AuthorityDirectory.make(scratch.path + "/ca", name: "Fleet", validity: Fleet.day * 3652, now: Fleet.now)
    }

    private static func sign(_ name: String, _ directory: AuthorityDirectory) throws -> FleetCertificate {
        try directory.sign(
            try ForgedRequest(name).request,
            for: .device,
            validity: Fleet.day * 90,
            now: Fleet.now
        )
    }

    private static func list(_ directory: AuthorityDirectory) throws -> RevocationList {
        try #require(try RevocationList.read(directory.listFile).first)
    }

    @Test func `only the owner can read the key and an empty revocation list exists`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        #expect(try OwnFile.mode(directory.path) == 0o700)
        #expect(try OwnFile.mode(directory.keyFile) == 0o600)
        #expect(try OwnFile.mode(directory.certificateFile) == 0o644)
        #expect(try Self.list(directory).count == 0)
        #expect(try directory.issued().isEmpty)
        #expect(try AuthorityDirectory(directory.path).certificate == directory.certificate)
    }

    @Test func `a directory holds one authority`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        let key = try scratch.read("ca/authority.key")
        let exists = FleetCertificateError.exists(path: directory.keyFile, advice: "a directory holds one authority")
        #expect(Fleet.error { _ = try Self.make(in: scratch) } == exists)
        #expect(try scratch.read("ca/authority.key") == key)
        #expect(Fleet.error { _ = try AuthorityDirectory(scratch.path) } == .noAuthority(path: scratch.path))
        // An authority without a key, for example after a kill, is created again.
        OwnFile.remove(directory.keyFile)
        #expect(try Self.make(in: scratch).certificate != directory.certificate)
    }

    @Test(arguments: [0o750, 0o701, 0o777] as [UInt32])
    func `a directory with access for other users is refused`(mode: UInt32) throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        try OwnFile.setMode(directory.path, mode)
        let error = Fleet.error { _ = try AuthorityDirectory(directory.path) }
        #expect(error == .openToOthers(path: directory.path, mode: mode))
        #expect(Fleet.error { _ = try Self.make(in: scratch) } == error)
    }

    @Test func `only one process changes the directory at a time`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        let lock = try LockFile(directory.path + "/lock")
        #expect(Fleet.error { _ = try Self.sign("door-7", directory) } == .busy(path: directory.path))
        #expect(Fleet.error { _ = try directory.revoke("door-7", now: Fleet.now) } == .busy(path: directory.path))
        #expect(try directory.issued().isEmpty)
        _ = consume lock
        #expect(try Self.sign("door-7", directory).name == "door-7")
    }

    @Test func `issued certificates are kept and files left by a kill are ignored`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        let certificates = try ["door-9", "door-7", "door.7.pem"].map { try Self.sign($0, directory) }
        try scratch.write("ca/issued/door-8.00.pem.new", "half")
        let issued = try directory.issued()
        #expect(issued.map(\.certificate.name) == ["door-7", "door-9", "door.7.pem"])
        #expect(Set(issued.map(\.certificate)) == Set(certificates) && issued.allSatisfy { $0.revokedSince == nil })
        // A file that a user added is an error.
        try scratch.write("ca/issued/x.pem", "half")
        let strange = FleetCertificateError.certificate(
            path: directory.path + "/issued/x.pem",
            why: "it contains no PEM block `CERTIFICATE`",
            advice: "remove files that do not belong to the authority"
        )
        #expect(Fleet.error { _ = try directory.issued() } == strange)
    }

    @Test func `a name revokes all its certificates and a serial number or a file revokes one`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        let old = try Self.sign("door-7", directory)
        let new = try Self.sign("door-7", directory)
        let others = try ["door-70", "door-8", "door-9"].map { try Self.sign($0, directory) }
        #expect(Set(try directory.revoke("door-7", now: Fleet.now).map(\.serial)) == [old.serial, new.serial])
        #expect(try directory.revoke("door-7", now: Fleet.now.advanced(by: Fleet.day)).isEmpty)
        #expect(try Self.list(directory).count == 2)
        let serial = others[0].serial
        #expect(try directory.revoke(serial.description.uppercased(), now: Fleet.now).map(\.serial) == [serial])
        let file = try scratch.write("lost.pem", others[1].pem)
        #expect(try directory.revoke(file, now: Fleet.now).map(\.name) == ["door-8"])
        #expect(try Self.list(directory).count == 4)
        let issued = try directory.issued()
        #expect(issued.filter { $0.revokedSince == nil }.map(\.certificate.name) == ["door-9"])
        #expect(issued.compactMap(\.revokedSince) == [Fleet.now, Fleet.now, Fleet.now, Fleet.now])
    }

    @Test func `a certificate of another authority cannot be revoked`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        for text in ["door-7", "00ff", "", "/nowhere/a.pem"] {
            #expect(Fleet.error { _ = try directory.revoke(text, now: Fleet.now) } == .notIssued(text))
        }
        let foreign = try scratch.write("foreign.pem", try Fleet.certificate(by: try Fleet.authority()).pem)
        let refusal = FleetCertificateError.certificate(
            path: foreign,
            why: "it is signed by another authority",
            advice: "pass a certificate of this authority"
        )
        #expect(Fleet.error { _ = try directory.revoke(foreign, now: Fleet.now) } == refusal)
        #expect(try Self.list(directory).count == 0)
    }

    @Test func `a repeated call signs the list that a kill has prevented`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        let certificate = try Self.sign("door-7", directory)
        try scratch.write("ca/revoked", "\(certificate.serial) \(Fleet.now) door-7\n")
        #expect(try Self.list(directory).count == 0)
        #expect(try directory.revoke("door-7", now: Fleet.now).isEmpty)
        #expect(try Self.list(directory).count == 1)
    }

    @Test(arguments: ["x", "00ff 2026-11-25T12:00:00Z", "00ff yesterday door-7", "00ff 2026-11-25 door 7"])
    func `an unreadable line of the list is an error`(line: String) throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        _ = try Self.sign("door-7", directory)
        try scratch.write("ca/revoked", line + "\n")
        let why = "a line is not a serial number, a time and a name"
        let error = Fleet.error { _ = try directory.revoke("door-7", now: Fleet.now) }
        #expect(error == .brokenAuthority(path: directory.revokedFile, why: why))
    }

    @Test func `a key that does not match the authority is refused`() throws {
        let scratch = ScratchDirectory()
        let directory = try Self.make(in: scratch)
        for text in [
            "", "hello", try Fleet.authority().key.text.text, try ForgeKey.rsa2048[0].key.serializeAsPEM().pemString,
        ] {
            try scratch.write("ca/authority.key", text)
            guard case .brokenAuthority = Fleet.error({ _ = try AuthorityDirectory(directory.path) }) else {
                Issue.record("taken: \(text.prefix(20))")
                return
            }
        }
    }
}

extension [UInt8] {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
