import CommandLineSupport
import Crypto
import LinuxSupport
import ReachabilityRequests
import ReachabilityRetry

/// The URL and the file of a download: the checked command line.
struct DownloadPlan {
    let url: DownloadURL
    let path: String
    let digest: FileDigest?
    let deadline: Duration?

    /// - Throws: ``ExitMessage`` with the error of the command line.
    init(_ arguments: DownloadArguments) throws {
        url = try DownloadURL(arguments.url)
        path = try arguments.output.map(Self.checked) ?? url.fileName()
        digest = try arguments.sha256.map { text in try FileDigest(text) }
        deadline = try arguments.deadline?.value
        if let deadline, deadline <= .zero { throw ExitMessage("--deadline must be more than nothing", .usage) }
    }

    /// The name and password of the URL as credentials. They are sent only to its host, and not after a redirect to another.
    var headers: HTTPHeaders {
        guard let (name, password) = url.credentials else { return HTTPHeaders() }
        return [.authorization(username: name, password: password)]
    }

    private static func checked(_ path: String) throws(ExitMessage) -> String {
        switch path {
        case "": throw ExitMessage("--output names no file", .usage)
        case "-": throw ExitMessage("a download becomes a file: --output ./- is one of that name", .usage)
        default: return path
        }
    }
}

/// A URL of HTTP, and the name of its file.
struct DownloadURL {
    /// The URL of the request, without name, password and fragment.
    let text: String
    /// The name and the password, if the URL has them.
    let credentials: (name: String, password: String)?
    /// Its parts.
    let parts: RequestURL

    /// - Throws: ``ExitMessage`` for another text.
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

    /// The error for another text. Names the scheme if there is one.
    private static func refusal(_ text: String) -> ExitMessage {
        let hint = "write https://example.org/image.iso"
        let scheme = text.split(at: ":", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        if text.contains("://"), scheme.utf8.allSatisfy({ (0x2b...0x7a).contains($0) && $0 != 0x2f }), !scheme.isEmpty,
            !["http", "https"].contains(scheme.lowercased())
        {
            return ExitMessage("\"\(text)\" has the scheme \(scheme), not http or https: \(hint)", .usage)
        }
        return ExitMessage("\"\(text)\" is no URL of http or https: \(hint)", .usage)
    }

    /// The last part of its path. A name that the server sends is not used.
    ///
    /// - Throws: ``ExitMessage`` for a name that begins with a dot, or has a `/` or a control character.
    func fileName() throws(ExitMessage) -> String {
        let last = parts.path.split(at: "/", omittingEmptySubsequences: false).last ?? ""
        let name = last.percentDecoded().flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        // `.part.json` is added to the name for another file, and a name has at most 255 bytes.
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), name.utf8.count <= 245, name.printable == name
        else {
            throw ExitMessage("the last part of \"\(text)\" is no name for a file: give one with --output", .usage)
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

    /// - Throws: ``ExitMessage`` if the text is not 64 hexadecimal digits.
    init(_ text: String) throws(ExitMessage) {
        guard [UInt8](hexadecimal: text.utf8)?.count == 32 else {
            throw ExitMessage("--sha256 wants 64 hexadecimal digits, as sha256sum prints them", .usage)
        }
        hex = text.lowercased()
    }

    /// Reads the file to its end.
    ///
    /// - Throws: ``OtherDigest`` for another digest, `CancellationError`, or an error of the system.
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

/// The file has another digest.
struct OtherDigest: Error, CustomStringConvertible {
    let found: String

    var description: String { "its SHA-256 is \(found): it was deleted" }
}
