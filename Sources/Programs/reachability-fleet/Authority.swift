import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityFleetAgent
import ServerTrust

/// `reachability fleet ca`: the authority of a fleet.
struct Authority: ParsableCommand {
    static let configuration = FleetAuthorityGroup.configuration(
        subcommands: [AuthorityInit.self, AuthoritySign.self, AuthorityRevoke.self, AuthorityList.self]
    )
}

/// `reachability fleet ca init`: makes one.
struct AuthorityInit: ParsableCommand {
    static let configuration = FleetInitArguments.configuration

    @OptionGroup var arguments: FleetInitArguments

    func run() throws {
        let validity = try arguments.validity.validity
        do {
            let directory = try AuthorityDirectory.make(
                arguments.directory,
                name: arguments.name,
                validity: validity,
                now: .now
            )
            let life = directory.certificate.life.text(at: .now)
            StandardOutput.write(text: "\(directory.certificateFile): \(directory.certificate.name), \(life)")
            StandardError.write(
                "reachability: \(directory.certificateFile) and \(directory.listFile) are for the broker; machines need the first"
            )
        } catch {
            throw ExitMessage(error)
        }
    }
}

/// `reachability fleet ca sign`: answers a request.
struct AuthoritySign: ParsableCommand {
    static let configuration = FleetSignArguments.configuration

    @OptionGroup var arguments: FleetSignArguments

    func run() throws {
        let validity = try arguments.validity.validity
        do {
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
            Self.say(certificate, request, others)
        } catch {
            throw ExitMessage(error)
        }
    }

    private static func say(_ certificate: FleetCertificate, _ request: CertificateRequest, _ others: Int) {
        let words = "\(certificate.name), \(certificate.role.rawValue), serial number \(certificate.serial)"
        StandardError.write("reachability: signed: \(words), \(certificate.life.text(at: .now))")
        if !request.passedOver.isEmpty {
            let parts = request.passedOver.joined(separator: ", and ")
            StandardError.write("reachability: of the request is passed over: \(parts)")
        }
        if others > 0 {
            StandardError.write(
                "reachability: \(certificate.name) has \(others) more that \(others == 1 ? "counts" : "count"): "
                    + "right for a renewal; see `reachability fleet ca list`"
            )
        }
    }
}

/// `reachability fleet ca revoke`: takes certificates back.
struct AuthorityRevoke: ParsableCommand {
    static let configuration = FleetRevokeArguments.configuration

    @OptionGroup var arguments: FleetRevokeArguments

    func run() throws {
        do {
            let directory = try AuthorityDirectory(arguments.directory)
            let revoked = try directory.revoke(arguments.certificate, now: .now)
            for one in revoked { StandardOutput.write(text: "revoked: \(one.name), serial number \(one.serial)") }
            if revoked.isEmpty {
                StandardOutput.write(text: "revoked before: \(arguments.certificate)")
            }
            StandardError.write(
                "reachability: give \(directory.listFile) to the broker as its `crlfile`, and restart it: until then it takes what is revoked"
            )
        } catch {
            throw ExitMessage(error)
        }
    }
}

extension DurationArgument {
    /// How long a certificate is valid.
    fileprivate var validity: Duration {
        get throws {
            let duration = try value
            guard duration >= .seconds(60) else { throw ExitMessage("--validity is 1m at least", .usage) }
            return duration
        }
    }
}
