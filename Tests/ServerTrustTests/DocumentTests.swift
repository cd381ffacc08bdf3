import Foundation
import ServerTrust
import Testing
import TrustForge

/// The tables of `docs/server-trust.md` list the test cases. `SERVER_TRUST_DOCUMENT=write` writes the tables.
@Suite(.enabled(if: OpenSSL.isInstalled, "openssl is not installed"))
struct DocumentTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../docs/server-trust.md").path

    @Test func `the tables of the document list the test cases`() throws {
        let document = try String(contentsOfFile: Self.file, encoding: .utf8)
        let sections = [("cases", try Self.tables()), ("alamofire", AlamofireTables.text)]
        guard ProcessInfo.processInfo.environment["SERVER_TRUST_DOCUMENT"] == "write" else {
            for (name, tables) in sections { #expect(document[try Self.section(name, of: document)] == tables) }
            return
        }
        var written = document
        for (name, tables) in sections {
            written = written.replacingCharacters(in: try Self.section(name, of: written), with: tables)
        }
        try written.write(toFile: Self.file, atomically: true, encoding: .utf8)
    }

    /// Returns the range between the marks of a section.
    private static func section(_ name: String, of document: String) throws -> Range<String.Index> {
        let start = try #require(document.range(of: "<!-- \(name) -->\n")).upperBound
        let stop = try #require(document.range(of: "<!-- end of \(name) -->\n")).lowerBound
        return start..<stop
    }

    private static func tables() throws -> String {
        let chains = try TrustCase.groups.map { group in
            table(group.title, "openssl verify", try group.cases.map { [$0.name, reason($0), try openSSL($0)] })
        }
        let revocations = try RevocationCase.groups.map { group in
            table(group.title, "openssl", try group.cases.map { [$0.name, reason($0), try openSSL($0)] })
        }
        return (chains + revocations).joined() + "\n"
    }

    private static func table(_ title: String, _ command: String, _ rows: [[String]]) -> String {
        let rows = rows.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
        return "\n### \(title)\n\n| Case | Verdict | `\(command)` |\n|---|---|---|\n\(rows)"
    }

    private static func reason(_ revocation: RevocationCase) -> String {
        switch revocation.expected {
        case .refused(.revoked(_, let record)):
            return "`revoked`: \(record.reason.map { "\($0), " } ?? "")\(record.source)"
        case .refused(.revocationUnknown(_, let doubt)):
            let problems = doubt.obstacles.map { obstacle in
                Mirror(reflecting: obstacle.problem).children.first?.label ?? name(obstacle.problem)
            }
            return "`revocationUnknown`: " + problems.map { "`\($0)`" }.joined(separator: ", ")
        default: return "trusted"
        }
    }

    /// Returns the name of an enumeration case without associated values.
    private static func name(_ problem: RevocationProblem) -> String {
        switch problem {
        case .noSource: "noSource"
        case .networkAccessDisabled: "networkAccessDisabled"
        case .noFetcher: "noFetcher"
        case .wouldWait: "wouldWait"
        case .cancelled: "cancelled"
        case .unknownToResponder: "unknownToResponder"
        case .otherCertificate: "otherCertificate"
        case .wrongNonce: "wrongNonce"
        case .otherIssuer: "otherIssuer"
        case .outOfScope: "outOfScope"
        case .deltaList: "deltaList"
        case .indirectList: "indirectList"
        case .badSignature: "badSignature"
        case .unauthorizedSigner: "unauthorizedSigner"
        case .mayNotSignLists: "mayNotSignLists"
        case .mayNotSignResponses: "mayNotSignResponses"
        case .responderRevoked: "responderRevoked"
        case .withoutNextUpdate: "withoutNextUpdate"
        default: problem.description
        }
    }

    private static func openSSL(_ revocation: RevocationCase) throws -> String {
        switch revocation.openSSL {
        case .agrees: try OpenSSL.opinion(revocation).rawValue
        case .differs(let why): "\(try OpenSSL.opinion(revocation)): \(why)"
        case .cannotSay: "-"
        }
    }

    private static func reason(_ trust: TrustCase) -> String {
        guard case .refused(let failure) = trust.expected else { return "trusted" }
        // A case without values has no child.
        switch failure {
        case .noCertificates: return "`noCertificates`"
        case .noPins: return "`noPins`"
        default: return "`\(Mirror(reflecting: failure).children.first?.label ?? "")`"
        }
    }

    private static func openSSL(_ trust: TrustCase) throws -> String {
        switch trust.openSSL {
        case .agrees: try OpenSSL.accepts(trust) ? "accepts" : "refuses"
        case .differs(let why): (try OpenSSL.accepts(trust) ? "accepts: " : "refuses: ") + why
        case .cannotSay: "-"
        }
    }
}
