import LinuxSupport
import ReachabilityLedger
import ServerTrust
import Testing
import TrustForge
import X509

@testable import ReachabilityFleetAgent

/// The enrollment of a machine.
@Suite struct EnrollmentTests {
    /// A machine and its authority.
    private struct Machine {
        let scratch: ScratchDirectory
        let authority: FleetAuthority
        let enrollment: Enrollment

        init(_ name: String = "door-7", authority: FleetAuthority? = nil) throws {
            scratch = ScratchDirectory()
            self.authority = try authority ?? Fleet.authority()
            enrollment = try Enrollment(directory: scratch.path + "/own", name: name)
            try scratch.write("own/authority.pem", self.authority.certificate.pem)
        }

        /// Has the pending request signed.
        func answer(now: TrustTime = Fleet.now, by authority: FleetAuthority? = nil) throws -> String {
            let request = try CertificateRequest(file: enrollment.requestFile)
            let certificate = try (authority ?? self.authority).sign(
                request,
                for: .device,
                validity: Fleet.day * 90,
                serial: Fleet.serial(),
                now: now
            )
            return try scratch.write("answer.pem", certificate.pem)
        }

        func install(_ path: String, now: TrustTime = Fleet.now) throws -> FleetCertificate {
            try enrollment.install(path, authority: nil, now: now)
        }

        /// The reason why a certificate is refused; nil if it is accepted.
        func refusal(_ path: String, now: TrustTime = Fleet.now) -> String? {
            guard case .certificate(_, let why, _) = Fleet.error({ _ = try install(path, now: now) }) else {
                return nil
            }
            return why
        }

        func read(_ path: String) throws -> [UInt8] { try InputFile.read(path) }

        /// The serial number of the certificate in use, if its key is in the same file.
        func inUse() throws -> CertificateSerial? {
            let bytes = try read(enrollment.pairFile)
            let certificate = try AuthorityDirectory.certificate(enrollment.pairFile, advice: "")
            let key = Certificate.PrivateKey(in: bytes)
            return key?.publicKey == certificate.certificate.x509.publicKey ? certificate.serial : nil
        }
    }

    @Test func `a repeated request has the same key`() throws {
        let machine = try Machine()
        try machine.enrollment.request(force: false)
        #expect(try OwnFile.mode(machine.enrollment.keyFile) == 0o600)
        let key = try machine.read(machine.enrollment.keyFile)
        let request = try CertificateRequest(file: machine.enrollment.requestFile)
        #expect(request.name == "door-7" && request.publicKey == Certificate.PrivateKey(in: key)?.publicKey)
        // A repeated request, for example after a kill, uses the same key. Only --force creates another.
        OwnFile.remove(machine.enrollment.requestFile)
        try machine.enrollment.request(force: false)
        #expect(try machine.read(machine.enrollment.keyFile) == key)
        #expect(try CertificateRequest(file: machine.enrollment.requestFile).publicKey == request.publicKey)
        try machine.enrollment.request(force: true)
        #expect(try machine.read(machine.enrollment.keyFile) != key)
    }

    @Test func `certificate and key are installed together`() throws {
        let machine = try Machine()
        try machine.enrollment.request(force: false)
        let answer = try machine.answer()
        let installed = try machine.install(answer)
        #expect(try machine.inUse() == installed.serial)
        #expect(try OwnFile.mode(machine.enrollment.pairFile) == 0o600)
        #expect(!FileName.isTaken(machine.enrollment.keyFile) && !FileName.isTaken(machine.enrollment.requestFile))
        // A repeated installation is not an error, because a kill may have prevented the output of the first one.
        #expect(try machine.install(answer) == installed)
        let advice = "renew it with --renew, or create another request with --force"
        let error = Fleet.error { try machine.enrollment.request(force: false) }
        #expect(error == .exists(path: machine.enrollment.pairFile, advice: advice))
    }

    @Test func `a renewal does not change the certificate in use until the new pair is installed`() throws {
        let machine = try Machine()
        try machine.enrollment.request(force: false)
        let first = try machine.install(try machine.answer())
        let early = try machine.enrollment.renew(force: false, now: Fleet.now.advanced(by: Fleet.day * 59))
        #expect(early == first.life && !FileName.isTaken(machine.enrollment.keyFile))
        let later = Fleet.now.advanced(by: Fleet.day * 61)
        #expect(try machine.enrollment.renew(force: false, now: later) == nil)
        #expect(try machine.inUse() == first.serial)
        let key = try machine.read(machine.enrollment.keyFile)
        // The same calls as those of the daily timer.
        #expect(try machine.enrollment.renew(force: false, now: later) == nil)
        #expect(try machine.read(machine.enrollment.keyFile) == key)
        let second = try machine.install(try machine.answer(now: later), now: later)
        #expect(try machine.inUse() == second.serial && second.serial != first.serial)
        #expect(second.certificate.publicKey != first.certificate.publicKey)
        #expect(try machine.enrollment.renew(force: false, now: later) == second.life)
        #expect(try machine.enrollment.renew(force: true, now: later) == nil)
    }

    @Test func `files left by a kill are ignored or written again`() throws {
        let machine = try Machine()
        try machine.enrollment.request(force: false)
        let answer = try machine.answer()
        // Killed before the rename: the new file is incomplete.
        try machine.scratch.write("own/door-7.pem.new", "-----BEGIN CERT")
        let installed = try machine.install(answer)
        #expect(!FileName.isTaken(machine.enrollment.pairFile + ".new"))
        // Killed after the rename: the key and the request still exist.
        try machine.scratch.write("own/door-7.key", try machine.read(machine.enrollment.pairFile))
        #expect(try machine.install(answer) == installed)
        #expect(!FileName.isTaken(machine.enrollment.keyFile))
        #expect(try machine.inUse() == installed.serial)
    }

    @Test func `a certificate for another machine, key, authority or time is refused`() throws {
        let machine = try Machine()
        try machine.enrollment.request(force: false)
        let answer = try machine.answer()
        let other = try Machine("door-8", authority: machine.authority)
        try other.enrollment.request(force: false)
        #expect(machine.refusal(try other.answer())?.hasPrefix("it is for the name \"door-8\"") == true)
        let twin = try Machine(authority: machine.authority)
        try twin.enrollment.request(force: false)
        #expect(machine.refusal(try twin.answer())?.hasPrefix("it is not for the key in") == true)
        #expect(machine.refusal(try machine.answer(by: try Fleet.authority()))?.hasPrefix("it is not signed") == true)
        _ = try machine.answer()
        #expect(
            machine.refusal(answer, now: Fleet.now.advanced(by: .seconds(-4000)))?.hasPrefix("it is valid from") == true
        )
        #expect(machine.refusal(answer, now: Fleet.now.advanced(by: Fleet.day * 91))?.hasPrefix("expired at") == true)
        OwnFile.remove(machine.scratch.path + "/own/authority.pem")
        #expect(machine.refusal(answer) == "the trusted authority is not set")
        #expect(!FileName.isTaken(machine.enrollment.pairFile))
        let authority = try machine.scratch.write("authority.pem", machine.authority.certificate.pem)
        #expect(try machine.enrollment.install(answer, authority: authority, now: Fleet.now).name == "door-7")
    }

    @Test func `an invalid certificate is refused`() throws {
        let machine = try Machine()
        try machine.enrollment.request(force: false)
        for (text, why) in [
            ("", "it contains no"), ("-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n", "its PEM"),
        ] {
            let path = try machine.scratch.write("answer.pem", text)
            #expect(machine.refusal(path)?.hasPrefix(why) == true)
        }
        #expect(Fleet.error { _ = try machine.install("/nowhere/a") } == .unreadable(path: "/nowhere/a", .noEntry))
        #expect(Fleet.error { _ = try machine.enrollment.renew(force: true, now: Fleet.now) } != nil)
    }

    @Test func `a directory with write access for others and an invalid name are refused`() throws {
        let machine = try Machine()
        try OwnFile.setMode(machine.enrollment.directory, 0o755)
        _ = try Enrollment(directory: machine.enrollment.directory, name: "door-7")
        try OwnFile.setMode(machine.enrollment.directory, 0o775)
        let error = Fleet.error { _ = try Enrollment(directory: machine.enrollment.directory, name: "door-7") }
        #expect(error == .openToOthers(path: machine.enrollment.directory, mode: 0o775))
        for name in ["", "../door", "a/b", "$hub"] {
            let error = Fleet.error { _ = try Enrollment(directory: machine.scratch.path, name: name) }
            #expect(error == .name(name, rule: FleetName.rule))
        }
    }

    @Test func `a renewal is advised after two thirds of the validity`() throws {
        let machine = try Machine()
        try machine.enrollment.request(force: false)
        _ = try machine.install(try machine.answer())
        let file = machine.enrollment.pairFile
        #expect(CertificateLife.advice(certificate: file, at: Fleet.now.advanced(by: Fleet.day * 59)) == nil)
        let advice = CertificateLife.advice(certificate: file, at: Fleet.now.advanced(by: Fleet.day * 61))
        #expect(
            advice == "the certificate \(file): valid until 2027-02-23T12:00:00Z, 29 d from now; renew it with "
                + "`reachability fleet enroll --renew`"
        )
        #expect(
            CertificateLife.advice(certificate: file, at: Fleet.now.advanced(by: Fleet.day * 91))?
                .contains("expired at 2027-02-23T12:00:00Z") == true
        )
        #expect(CertificateLife.advice(certificate: "/nowhere", at: Fleet.now) == nil)
    }
}
