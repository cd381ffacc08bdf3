import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityFleetAgent
import ServerTrust

/// `reachability fleet enroll`: this machine's key, request and certificate.
struct Enroll: ParsableCommand {
    static let configuration = FleetEnrollArguments.configuration

    @OptionGroup var arguments: FleetEnrollArguments

    func run() throws {
        do {
            let enrollment = try Enrollment(directory: arguments.directory, name: arguments.device)
            if let certificate = arguments.install {
                try install(certificate, enrollment)
            } else if arguments.renew {
                try renew(enrollment)
            } else {
                try enrollment.request(force: arguments.force)
                tell(enrollment)
            }
        } catch {
            throw ExitMessage(error)
        }
    }

    private func renew(_ enrollment: Enrollment) throws(FleetCertificateError) {
        guard let life = try enrollment.renew(force: arguments.force, now: .now) else { return tell(enrollment) }
        StandardOutput.write(
            text: "\(enrollment.pairFile): \(life.text(at: .now)); to be renewed from \(life.renewal) on"
        )
    }

    private func install(_ certificate: String, _ enrollment: Enrollment) throws(FleetCertificateError) {
        let installed = try enrollment.install(certificate, authority: arguments.authority, now: .now)
        StandardOutput.write(text: "\(enrollment.pairFile): \(installed.name), \(installed.life.text(at: .now))")
        StandardError.write(
            "reachability: certificate and key are in one file: it is what --certificate of agent or hub names, or certfile and keyfile of a broker"
        )
    }

    /// Where the request is, and what to do with it.
    private func tell(_ enrollment: Enrollment) {
        StandardOutput.write(text: enrollment.requestFile)
        StandardError.write(
            "reachability: have it signed with `reachability fleet ca sign`; then: reachability fleet enroll "
                + "--device \(enrollment.name) --directory \(enrollment.directory) --install CERTIFICATE"
        )
    }
}
