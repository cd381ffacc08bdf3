import Foundation
import NetworkLab
import Testing

/// An authority made by the command, and the files of those it signs for.
struct FleetAuthorityLab {
    let directory: ScratchDirectory
    var authority: String { directory.file("ca") }
    var list: String { authority + "/revoked.pem" }
    var certificate: String { authority + "/authority.pem" }

    static func start() async throws -> FleetAuthorityLab {
        let lab = FleetAuthorityLab(directory: try ScratchDirectory())
        let made = try await lab.fleet("ca", "init", lab.authority)
        #expect(made.status == 0 && made.output.hasPrefix("\(lab.certificate): Fleet, valid until "))
        return lab
    }

    func fleet(_ words: String...) async throws -> CommandResult { try await Command.run(["fleet"] + words) }

    /// Runs a program that stands in the path.
    func tool(_ words: String...) async throws -> CommandResult {
        try await LabThread.detached {
            let result = try LabProcess(words[0], Array(words.dropFirst())).wait()
            return CommandResult(status: result.status, output: result.output, errors: result.errors)
        }
    }

    /// Where somebody's files lie.
    func place(_ name: String) -> String { directory.file(name) }

    /// The certificate and key of somebody, in one file.
    func pair(_ name: String) -> String { "\(place(name))/\(name).pem" }

    /// Goes all the way: asks, signs, installs.
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
