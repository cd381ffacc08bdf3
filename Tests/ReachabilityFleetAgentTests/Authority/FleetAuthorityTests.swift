import LinuxSupport
import ServerTrust
import SwiftASN1
import Testing
import TrustForge
import X509

@testable import ReachabilityFleetAgent

/// The certificates and lists of an authority.
@Suite struct FleetAuthorityTests {
    @Test func `an authority is self-signed and may sign certificates and lists`() throws {
        let authority = try Fleet.authority(name: "Doors of Example")
        let certificate = authority.certificate
        #expect(certificate.name == "Doors of Example")
        #expect(certificate.isIssued(by: certificate.certificate))
        #expect(certificate.life.ends == Fleet.now.advanced(by: Fleet.day * 3652))
        let extensions = certificate.certificate.x509.extensions
        #expect(try extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
        #expect(try extensions.keyUsage == KeyUsage(keyCertSign: true, cRLSign: true))
        #expect(try extensions.subjectKeyIdentifier != nil)
        // A TLS client accepts a chain to the authority.
        let broker = try Fleet.certificate(
            ForgedRequest("broker"),
            by: authority,
            for: .broker(["broker.example.org", "192.0.2.1", "2001:db8::1"])
        )
        #expect(broker.certificate.subjectAlternativeNames == ["broker.example.org", "192.0.2.1", "2001:db8::1"])
    }

    @Test func `the certificate of a machine is for clients and that of the broker for servers`() throws {
        let authority = try Fleet.authority()
        let device = try Fleet.certificate(by: authority)
        let extensions = device.certificate.x509.extensions
        #expect(device.role == .device && device.name == "door-7")
        #expect(try Array(extensions.extendedKeyUsage ?? .init()) == [.clientAuth])
        #expect(try extensions.basicConstraints == .notCertificateAuthority)
        #expect(try extensions.keyUsage == KeyUsage(digitalSignature: true))
        let own = try authority.certificate.certificate.x509.extensions.subjectKeyIdentifier
        #expect(try extensions.authorityKeyIdentifier?.keyIdentifier == own?.keyIdentifier)
        #expect(device.isIssued(by: authority.certificate.certificate))
        #expect(device.life.begins == Fleet.now.advanced(by: .seconds(-3600)))
        #expect(device.life.ends == Fleet.now.advanced(by: Fleet.day * 90))
        let broker = try Fleet.certificate(by: authority, for: .broker(["b"]))
        #expect(broker.role == .broker)
        #expect(try Array(broker.certificate.x509.extensions.extendedKeyUsage ?? .init()) == [.serverAuth])
    }

    @Test func `the name hub is reserved for the hub`() throws {
        let authority = try Fleet.authority()
        for purpose in [CertificatePurpose.device, .broker(["hub"])] {
            let error = Fleet.error { _ = try Fleet.certificate(ForgedRequest("hub"), by: authority, for: purpose) }
            #expect(error == .request(.hub))
        }
        let error = Fleet.error { _ = try Fleet.certificate(by: authority, for: .hub) }
        #expect(error == .request(.notHub("door-7")))
        #expect(try Fleet.certificate(ForgedRequest("hub"), by: authority, for: .hub).role == .hub)
    }

    @Test(arguments: ["", "*", "*.example.org", "a b", "broker.example.org/x", "mqtts://b", "b:8883", "[::1]", "1.2"])
    func `an invalid host name of a broker is refused`(text: String) throws {
        let authority = try Fleet.authority()
        let error = Fleet.error { _ = try Fleet.certificate(by: authority, for: .broker([text])) }
        #expect(error == .name(text, rule: "a host name or an address, such as broker.example.org or 192.0.2.1"))
    }

    @Test func `no certificate is valid for longer than its authority`() throws {
        let authority = try Fleet.authority(validity: Fleet.day * 100)
        #expect(
            try Fleet.certificate(by: authority, validity: Fleet.day * 100).life.ends == authority.certificate.life.ends
        )
        func tooLong(_ days: Int, _ end: TrustTime) -> FleetCertificateError {
            .tooLong(until: Fleet.now.advanced(by: Fleet.day * days), authority: end)
        }
        let error = Fleet.error { _ = try Fleet.certificate(by: authority, validity: Fleet.day * 101) }
        #expect(error == tooLong(101, authority.certificate.life.ends))
        let century = Fleet.error { _ = try Fleet.authority(validity: Fleet.day * 40_000) }
        #expect(century == tooLong(40_000, Fleet.now.advanced(by: FleetAuthority.longest)))
        // From 2050 times have another encoding.
        let long = try Fleet.authority(validity: Fleet.day * 36_500)
        #expect(long.certificate.life.ends == Fleet.now.advanced(by: Fleet.day * 36_500))
    }

    @Test(arguments: ["", "a\nb", "\u{1b}[31m", String(repeating: "a", count: 65)])
    func `an authority name with unprintable characters is refused`(name: String) {
        let error = Fleet.error { _ = try Fleet.authority(name: name) }
        #expect(error == .name(name, rule: "1 to 64 printable characters"))
    }

    @Test func `serial numbers in the format of OpenSSL are read`() throws {
        let serial = Fleet.serial()
        #expect(CertificateSerial(serial.description) == serial)
        #expect(serial.description.count == 32)
        let colons = serial.bytes.map { String($0 + 0, radix: 16).uppercased() }.map { $0.count == 1 ? "0" + $0 : $0 }
        #expect(CertificateSerial(colons.joined(separator: ":")) == serial)
        #expect(CertificateSerial("00ff") == CertificateSerial("FF") && CertificateSerial("f") != nil)
        for text in ["", "xyz", "+1", "-1", "1 2", "\u{ff11}", String(repeating: "a", count: 41)] {
            #expect(CertificateSerial(text) == nil)
        }
        #expect(Set((0..<100).map { _ in Fleet.serial() }).count == 100)
    }

    @Test func `a list contains the revoked certificates and is valid until the end of the authority`() throws {
        let authority = try Fleet.authority()
        for count in [0, 1, 300] {
            let revoked = (0..<count).map { _ in
                RevokedCertificate(serial: Fleet.serial(), since: Fleet.now, name: "door-7")
            }
            let list = try RevocationList(
                derEncoded: try authority.list(of: revoked, now: Fleet.now),
                name: "list"
            )
            #expect(list.count == count && list.issuer == "CN=Fleet")
            #expect(list.thisUpdate == Fleet.now.advanced(by: .seconds(-3600)))
            #expect(list.nextUpdate == authority.certificate.life.ends)
        }
    }

    @Test func `a certificate is due for renewal after two thirds of its validity`() throws {
        let life = CertificateLife(
            begins: TrustTime(secondsSinceEpoch: 0),
            ends: TrustTime(secondsSinceEpoch: 90 * 86_400)
        )
        #expect(life.renewal == TrustTime(secondsSinceEpoch: 60 * 86_400))
        #expect(!life.isDue(at: TrustTime(secondsSinceEpoch: 60 * 86_400 - 1)))
        #expect(life.isDue(at: life.renewal) && life.isDue(at: life.ends))
        #expect(life.text(at: life.renewal) == "valid until 1970-04-01T00:00:00Z, 30 d from now")
        #expect(life.text(at: life.ends.advanced(by: .seconds(1))) == "expired at 1970-04-01T00:00:00Z")
    }
}
