import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityFleetAgent
import ServerTrust

/// `reachability fleet ca list`: what was issued.
struct AuthorityList: ParsableCommand {
    static let configuration = FleetListArguments.configuration

    @OptionGroup var arguments: FleetListArguments

    func run() throws {
        let issued: [IssuedCertificate]
        do { issued = try AuthorityDirectory(arguments.directory).issued() } catch { throw ExitMessage(error) }
        for one in issued {
            if arguments.json {
                StandardOutput.write(one.json)
            } else {
                StandardOutput.write(text: one.line(at: .now))
            }
        }
    }
}

extension IssuedCertificate {
    /// Whether it lets somebody of that name in.
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

extension ExitMessage {
    init(_ error: FleetCertificateError) {
        let status: Status =
            switch error {
            case .name, .tooLong: .usage
            case .request, .certificate, .key, .notIssued, .brokenAuthority: .dataError
            case .unreadable, .noAuthority: .noInput
            case .unwritable, .exists, .unmade: .cantCreate
            case .busy: .temporaryFailure
            case .openToOthers: .noPermission
            }
        self.init(error.description, status)
    }
}
