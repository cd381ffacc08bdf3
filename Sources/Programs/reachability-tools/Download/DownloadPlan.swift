import CommandLineSupport
import Crypto
import LinuxSupport
import ReachabilityRequests
import ReachabilityRetry

/// The checked arguments of a download: URL, file, digest and deadline.
struct DownloadPlan {
    let url: DownloadURL
    let path: String
    let digest: FileDigest?
    let deadline: Duration?

    /// - Throws: ``ExitMessage`` if an argument is invalid.
    init(_ arguments: DownloadArguments) throws {
        url = try DownloadURL(arguments.url)
        path = try arguments.output.map(Self.checked) ?? url.fileName()
        digest = try arguments.sha256.map { text in try FileDigest(text) }
        deadline = try arguments.deadline?.value
        if let deadline, deadline <= .zero { throw ExitMessage("--deadline takes more than 0", .usage) }
    }

    /// The name and password of the URL as credentials. They are sent only to the host of the URL, not after a redirect to another host.
    var headers: HTTPHeaders {
        guard let (name, password) = url.credentials else { return HTTPHeaders() }
        return [.authorization(username: name, password: password)]
    }

    private static func checked(_ path: String) throws(ExitMessage) -> String {
        switch path {
        case "": throw ExitMessage("--output takes the path of a file", .usage)
        case "-": throw ExitMessage("--output cannot be standard output; --output ./- is a file with this name", .usage)
        default: return path
        }
    }
}

/// The URL of a download, http or https.
struct DownloadURL {
    /// The URL of the request, without name, password and fragment.
    let text: String
    /// The name and password in the URL; nil if it has none.
    let credentials: (name: String, password: String)?
    /// The parsed URL.
    let parts: RequestURL

    /// - Throws: ``ExitMessage`` if the text is not such a URL.
    init(_ text: String) throws(ExitMessage) {
        guard let parts = RequestURL(text), !parts.host.isEmpty else {
            throw Self.refusal(text)
        }
        self.parts = parts
        self.text = ResumeData.plain(text)
        credentials = parts.userInfo.map { info in
            let words = info.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false).map(Self.decoded)
            return (words[0], words.count > 1 ? words[1] : "")
        }
    }

    /// Returns the error for an invalid text. It names the scheme if there is one.
    private static func refusal(_ text: String) -> ExitMessage {
        let (shown, hint) = (text.secretsMasked, "write https://example.org/image.iso")
        let scheme = text.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        if text.contains("://"), scheme.utf8.allSatisfy({ (0x2b...0x7a).contains($0) && $0 != 0x2f }), !scheme.isEmpty,
            !["http", "https"].contains(scheme.lowercased())
        {
            return ExitMessage("\"\(shown)\" has the scheme \(scheme), not http or https; \(hint)", .usage)
        }
        return ExitMessage("\"\(shown)\" is not a URL of http or https; \(hint)", .usage)
    }

    /// Returns the last part of the URL's path as a file name. A name that the server sends is not used.
    ///
    /// - Throws: ``ExitMessage`` if the name begins with a dot, contains `/` or a control character, or is too long.
    func fileName() throws(ExitMessage) -> String {
        let last = parts.path.split(at: "/", omittingEmptySubsequences: false).last ?? ""
        let name = last.percentDecoded().flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        // A name has at most 255 bytes, and `.part.json` is added for another file.
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), name.utf8.count <= 245, name.printable == name
        else {
            let shown = text.secretsMasked
            throw ExitMessage("the last part of \"\(shown)\" cannot be a file name; give one with --output", .usage)
        }
        return name
    }

    private static func decoded(_ text: Substring) -> String {
        text.percentDecoded().map { String(decoding: $0, as: UTF8.self) } ?? String(text)
    }
}

/// The expected SHA-256 (FIPS 180-4) of a file.
struct FileDigest: Sendable {
    private let hex: String

    /// Parses a digest.
    ///
    /// - Throws: ``ExitMessage`` if the text is not 64 hexadecimal digits.
    init(_ text: String) throws(ExitMessage) {
        guard [UInt8](hexadecimal: text.utf8)?.count == 32 else {
            throw ExitMessage("--sha256 takes 64 hexadecimal digits, as sha256sum prints them", .usage)
        }
        hex = text.lowercased()
    }

    /// Computes the digest of a file and compares it.
    ///
    /// - Throws: ``OtherDigest`` if the digest differs, `CancellationError`, or an error of the system.
    @Sendable func check(_ path: String) async throws {
        let file = try ReadableFile(path)
        var hash = SHA256()
        var offset: Int64 = 0
        while case let bytes = try file.read(1 << 20, at: offset), !bytes.isEmpty {
            try Task.checkCancellation()
            hash.update(data: bytes)
            offset += Int64(bytes.count)
        }
        let found = hash.finalize().hexadecimal()
        if found != hex { throw OtherDigest(found: found) }
    }
}

/// The error for a file with another digest.
struct OtherDigest: Error, CustomStringConvertible {
    let found: String

    var description: String { "its SHA-256 is \(found); it was deleted" }
}
