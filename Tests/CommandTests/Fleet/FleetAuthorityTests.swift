import Foundation
import NetworkLab
import Testing

/// `reachability fleet ca` and `fleet enroll`. OpenSSL verifies their results.
@Suite(.enabled(if: Tools.has("openssl"))) struct FleetAuthorityTests {
    @Test func `OpenSSL accepts requests, certificates and lists, and rejects revoked certificates`() async throws {
        let lab = try await FleetAuthorityLab.start()
        let place = lab.place("door-7")
        _ = try await lab.fleet("enroll", "--device", "door-7", "--directory", place)
        let request = try await lab.tool(
            "openssl",
            "req",
            "-verify",
            "-noout",
            "-subject",
            "-in",
            "\(place)/door-7.csr"
        )
        #expect(request.status == 0 && request.output.contains("CN = door-7"))
        let door = try await lab.enroll("door-7")
        let broker = try await lab.enroll("broker", ["--server", "broker.example.org", "--server", "192.0.2.1"])
        let hub = try await lab.enroll("hub", ["--hub"])

        let text = try await lab.tool("openssl", "x509", "-noout", "-text", "-in", broker).output
        for words in [
            "DNS:broker.example.org, IP Address:192.0.2.1", "TLS Web Server Authentication", "CA:FALSE",
            "Digital Signature", "Issuer: CN = Fleet", "Subject: CN = broker", "ecdsa-with-SHA256",
        ] { #expect(text.contains(words), "\(words)") }
        let root = try await lab.tool("openssl", "x509", "-noout", "-text", "-in", lab.certificate).output
        #expect(root.contains("CA:TRUE") && root.contains("Certificate Sign, CRL Sign"))

        func verify(_ file: String, _ purpose: String) async throws -> CommandResult {
            try await lab.tool(
                "openssl",
                "verify",
                "-x509_strict",
                "-purpose",
                purpose,
                "-crl_check",
                "-CRLfile",
                lab.list,
                "-CAfile",
                lab.certificate,
                file
            )
        }
        for (file, purpose) in [(door, "sslclient"), (hub, "sslclient"), (broker, "sslserver")] {
            let verified = try await verify(file, purpose)
            #expect(verified.status == 0, "\(verified.errors)")
        }
        // The certificate of a machine is not valid for a broker, and the other way round.
        #expect(try await verify(door, "sslserver").status != 0)
        #expect(try await verify(broker, "sslclient").status != 0)

        let revoked = try await lab.fleet("ca", "revoke", lab.authority, "door-7")
        #expect(revoked.status == 0 && revoked.output.hasPrefix("revoked: door-7, serial number "))
        let after = try await verify(door, "sslclient")
        #expect(after.status != 0 && after.errors.contains("certificate revoked"))
        #expect(try await verify(hub, "sslclient").status == 0)
        let list = try await lab.tool("openssl", "crl", "-noout", "-text", "-in", lab.list).output
        let serial = try #require(revoked.output.split(separator: " ").last).trimmingCharacters(in: .newlines)
        #expect(list.contains("Serial Number: \(serial.uppercased())") && list.contains("Version 2"))
        #expect(list.contains("X509v3 CRL Number: \n                2"))
        let again = try await lab.fleet("ca", "revoke", lab.authority, serial)
        #expect(again.status == 0 && again.output == "already revoked: \(serial)\n")
    }

    @Test func `the issued certificates are listed as text and as JSON`() async throws {
        let lab = try await FleetAuthorityLab.start()
        #expect(try await lab.fleet("ca", "list", lab.authority) == CommandResult(status: 0, output: "", errors: ""))
        try await lab.enroll("door-7")
        try await lab.enroll("hub", ["--hub"])
        try await lab.enroll("broker", ["--server", "b"])
        _ = try await lab.fleet("ca", "revoke", lab.authority, "door-7")
        let lines = try await lab.fleet("ca", "list", lab.authority).lines
        let expected = ["broker: broker, valid until ", "door-7: device, revoked since ", "hub: hub, valid until "]
        #expect(lines.count == 3 && zip(lines, expected).allSatisfy { $0.hasPrefix($1) })
        let objects = try await lab.fleet("ca", "list", "--json", lab.authority).lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["role"] as? String } == ["broker", "device", "hub"])
        #expect(objects.map { $0["revoked"] is String } == [false, true, false])
    }

    @Test func `the files of the script make-certificates are an authority too`() async throws {
        let directory = ScratchDirectory()
        let script = """
            \(FleetAuthorityLab.examples)/make-certificates \(directory.path)/ca broker old && chmod go= \(directory.path)/ca
            $R fleet enroll --device new --directory \(directory.path)/own &&
            $R fleet ca sign --out \(directory.path)/new.pem \(directory.path)/ca \(directory.path)/own/new.csr &&
            $R fleet ca revoke \(directory.path)/ca \(directory.path)/ca/old.pem &&
            openssl verify -CAfile \(directory.path)/ca/authority.pem \(directory.path)/new.pem
            """
        let result = try await Command.run(script: script)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("revoked: old, ") && result.output.contains("new.pem: OK"))
    }

    @Test func `errors in the command line and in files are reported with a hint`() async throws {
        let lab = try await FleetAuthorityLab.start()
        func expect(_ words: [String], _ status: CInt, _ text: String) async throws {
            let result = try await Command.run(["fleet"] + words)
            #expect(result.status == status && result.output.isEmpty && result.errors.contains(text), "\(result)")
        }
        let place = lab.place("own")
        try await expect(["ca", "init", lab.authority], 73, "file exists; a directory holds one authority")
        try await expect(["ca", "init", "--validity", "1s", lab.place("b")], 64, "--validity takes at least 1m")
        try await expect(["ca", "sign", lab.authority, "/nowhere"], 66, "cannot read /nowhere")
        try await expect(["ca", "sign", lab.authority, lab.certificate], 65, "it contains no request")
        try await expect(["ca", "list", lab.directory.path], 66, "cannot find an authority in")
        try await expect(["ca", "revoke", lab.authority, "door"], 65, "cannot find \"door\"")
        try await expect(["enroll", "--device", "a/b", "--directory", place], 64, "invalid name \"a/b\"")
        try await expect(
            ["enroll", "--device", "a", "--directory", place, "--renew"],
            66,
            "cannot read \(place)/a.pem"
        )
        try await expect(
            ["enroll", "--device", "a", "--directory", place, "--install", lab.certificate],
            65,
            "it is for the name"
        )
        try await expect(["enroll", "--device", "a", "--directory", "/dev/null"], 73, "cannot write /dev/null")
        let open = try await Command.run(script: "chmod 755 \(lab.authority) && $R fleet ca list \(lab.authority)")
        open.expectRefusal(
            "cannot use \(lab.authority): other users have access (mode 755); run `chmod go= \(lab.authority)`",
            status: 77
        )
    }
}

extension FleetAuthorityLab {
    /// The directory `examples/fleet`.
    static let examples = Checkout.path("examples/fleet")
}

/// An authority created by the command, and the directories of the machines whose certificates it signs.
struct FleetAuthorityLab {
    let directory: ScratchDirectory
    var authority: String { directory.file("ca") }
    var list: String { authority + "/revoked.pem" }
    var certificate: String { authority + "/authority.pem" }

    static func start() async throws -> FleetAuthorityLab {
        let lab = FleetAuthorityLab(directory: ScratchDirectory())
        let made = try await lab.fleet("ca", "init", lab.authority)
        #expect(made.status == 0 && made.output.hasPrefix("\(lab.certificate): Fleet, valid until "))
        return lab
    }

    func fleet(_ words: String...) async throws -> CommandResult { try await Command.run(["fleet"] + words) }

    /// Runs a program of PATH.
    func tool(_ words: String...) async throws -> CommandResult {
        try await LabThread.detached {
            let result = try LabProcess(words[0], Array(words.dropFirst())).wait()
            return CommandResult(status: result.status, output: result.output, errors: result.errors)
        }
    }

    /// Returns the directory of a machine.
    func place(_ name: String) -> String { directory.file(name) }

    /// Returns the file with the certificate and the key of a machine.
    func pair(_ name: String) -> String { "\(place(name))/\(name).pem" }

    /// Requests, signs and installs a certificate.
    @discardableResult
    func enroll(_ name: String, _ options: [String] = []) async throws -> String {
        let place = place(name)
        let asked = try await fleet("enroll", "--device", name, "--directory", place)
        #expect(asked.status == 0 && asked.output == "\(place)/\(name).csr\n")
        let answer = directory.file("\(name).answer")
        let words = ["fleet", "ca", "sign", "--out", answer] + options + [authority, "\(place)/\(name).csr"]
        let signed = try await Command.run(words)
        #expect(signed.status == 0 && signed.output.isEmpty && signed.errors.contains("signed: \(name), "))
        let installed = try await fleet(
            "enroll",
            "--device",
            name,
            "--directory",
            place,
            "--install",
            answer,
            "--authority",
            certificate
        )
        #expect(installed.status == 0 && installed.output.hasPrefix("\(pair(name)): \(name), valid until "))
        return pair(name)
    }
}
