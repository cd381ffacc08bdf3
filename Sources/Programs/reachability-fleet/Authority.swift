import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityFleetAgent
import ServerTrust

/// `reachability fleet ca`: manages the certificate authority of a fleet.
struct Authority: ParsableCommand {
    static let configuration = FleetAuthorityGroup.configuration(
        subcommands: [AuthorityInit.self, AuthoritySign.self, AuthorityRevoke.self, AuthorityList.self]
    )
}

/// `reachability fleet ca init`: creates an authority.
struct AuthorityInit: ParsableCommand {
    static let configuration = FleetInitArguments.configuration

    @OptionGroup var arguments: FleetInitArguments

    func run() throws {
        let validity = try arguments.validity.validity
        let directory = try AuthorityDirectory.make(
            arguments.directory,
            name: arguments.name,
            validity: validity,
            now: .now
        )
        let life = directory.certificate.life.text(at: .now)
        StandardOutput.write(text: "\(directory.certificateFile): \(directory.certificate.name), \(life)")
        StandardError.report(
            "copy \(directory.certificateFile) and \(directory.listFile) to the broker; machines need only the first file"
        )
    }
}

/// `reachability fleet ca sign`: signs a certificate request.
struct AuthoritySign: ParsableCommand {
    static let configuration = FleetSignArguments.configuration

    @OptionGroup var arguments: FleetSignArguments

    func run() throws {
        let validity = try arguments.validity.validity
        let directory = try AuthorityDirectory(arguments.directory)
        let file = arguments.request == "-" ? "/dev/stdin" : arguments.request
        let request = try CertificateRequest(file: file)
        let purpose: CertificatePurpose =
            arguments.hub ? .hub : arguments.servers.isEmpty ? .device : .broker(arguments.servers)
        let others = try directory.issued().filter { $0.counts(request.name, at: .now) }.count
        let certificate = try directory.sign(request, for: purpose, validity: validity, now: .now)
        if let path = arguments.out {
            try certificate.write(to: path)
        } else {
            StandardOutput.write(Array(certificate.pem.dropLast()))
        }
        Self.report(certificate, request, others)
    }

    private static func report(_ certificate: FleetCertificate, _ request: CertificateRequest, _ others: Int) {
        let words = "\(certificate.name), \(certificate.role.rawValue), serial number \(certificate.serial)"
        StandardError.report("signed: \(words), \(certificate.life.text(at: .now))")
        if !request.passedOver.isEmpty {
            let parts = request.passedOver.joined(separator: ", and ")
            StandardError.report("not copied from the request: \(parts)")
        }
        if others > 0 {
            StandardError.report(
                "\(certificate.name) has \(others) more valid \(others == 1 ? "certificate" : "certificates"); "
                    + "if this is not a renewal, see `reachability fleet ca list`"
            )
        }
    }
}

/// `reachability fleet ca revoke`: revokes certificates.
struct AuthorityRevoke: ParsableCommand {
    static let configuration = FleetRevokeArguments.configuration

    @OptionGroup var arguments: FleetRevokeArguments

    func run() throws {
        let directory = try AuthorityDirectory(arguments.directory)
        let revoked = try directory.revoke(arguments.certificate, now: .now)
        for one in revoked { StandardOutput.write(text: "revoked: \(one.name), serial number \(one.serial)") }
        if revoked.isEmpty {
            StandardOutput.write(text: "already revoked: \(arguments.certificate)")
        }
        StandardError.report(
            "give \(directory.listFile) to the broker as its `crlfile`, and restart it; until then it accepts the revoked certificates"
        )
    }
}

extension DurationArgument {
    /// The validity of a certificate, at least one minute.
    fileprivate var validity: Duration {
        get throws {
            let duration = try value
            guard duration >= .seconds(60) else { throw ExitMessage("--validity takes at least 1m", .usage) }
            return duration
        }
    }
}

/// `reachability fleet ca list`: prints the issued certificates.
struct AuthorityList: ParsableCommand {
    static let configuration = FleetListArguments.configuration

    @OptionGroup var arguments: FleetListArguments

    func run() throws {
        for one in try AuthorityDirectory(arguments.directory).issued() {
            if arguments.json {
                StandardOutput.write(one.json)
            } else {
                StandardOutput.write(text: one.line(at: .now))
            }
        }
    }
}

extension IssuedCertificate {
    /// Returns whether a broker accepts the certificate for the name.
    func counts(_ name: String, at now: TrustTime) -> Bool {
        certificate.name == name && revokedSince == nil && now <= certificate.life.ends
    }

    fileprivate func line(at now: TrustTime) -> String {
        let state = revokedSince.map { "revoked since \($0)" } ?? certificate.life.text(at: now)
        return "\(certificate.name): \(certificate.role.rawValue), \(state), \(certificate.serial)"
    }

    fileprivate var json: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("kind", "certificate")
        object.add("name", certificate.name)
        object.add("role", certificate.role.rawValue)
        object.add("serial", certificate.serial.description)
        object.add("begins", certificate.life.begins.description)
        object.add("ends", certificate.life.ends.description)
        object.add("revoked", revokedSince?.description)
        return object.bytes
    }
}

extension FleetCertificateError: ExitError {
    var exitMessage: ExitMessage {
        let status: ExitMessage.Status =
            switch self {
            case .name, .tooLong: .usage
            case .request, .certificate, .key, .notIssued, .brokenAuthority: .dataError
            case .unreadable, .noAuthority: .noInput
            case .unwritable, .exists, .encodingFailed: .cantCreate
            case .busy: .temporaryFailure
            case .openToOthers: .noPermission
            }
        return ExitMessage(description, status)
    }
}

/// `reachability fleet enroll`: manages this machine's key, request and certificate.
struct Enroll: ParsableCommand {
    static let configuration = FleetEnrollArguments.configuration

    @OptionGroup var arguments: FleetEnrollArguments

    func run() throws {
        let enrollment = try Enrollment(directory: arguments.directory, name: arguments.device)
        if let certificate = arguments.install {
            try install(certificate, enrollment)
        } else if arguments.renew {
            try renew(enrollment)
        } else {
            try enrollment.request(force: arguments.force)
            report(enrollment)
        }
    }

    private func renew(_ enrollment: Enrollment) throws(FleetCertificateError) {
        guard let life = try enrollment.renew(force: arguments.force, now: .now) else { return report(enrollment) }
        StandardOutput.write(text: "\(enrollment.pairFile): \(life.text(at: .now)); renew it from \(life.renewal) on")
    }

    private func install(_ certificate: String, _ enrollment: Enrollment) throws(FleetCertificateError) {
        let installed = try enrollment.install(certificate, authority: arguments.authority, now: .now)
        StandardOutput.write(text: "\(enrollment.pairFile): \(installed.name), \(installed.life.text(at: .now))")
        StandardError.report(
            "the file contains certificate and key: name it in --certificate of agent or hub, or in certfile and keyfile of a broker"
        )
    }

    /// Prints the name of the request file, and on standard error the next commands.
    private func report(_ enrollment: Enrollment) {
        StandardOutput.write(text: enrollment.requestFile)
        StandardError.report(
            "sign it with `reachability fleet ca sign`, then run: reachability fleet enroll "
                + "--device \(enrollment.name) --directory \(enrollment.directory) --install CERTIFICATE"
        )
    }
}
