import CommandLineSupport
import LinuxSupport
import ReachabilityRequests
import ReachabilityRetry

/// What is to be fetched, and where to: the command line, checked before anything is done.
struct DownloadPlan {
    let url: DownloadURL
    let path: String
    let digest: FileDigest?
    let deadline: Duration?

    /// - Throws: ``ExitMessage`` with what is wrong in the command line.
    init(_ arguments: DownloadArguments) throws {
        url = try DownloadURL(arguments.url)
        path = try arguments.output.map(Self.checked) ?? url.fileName()
        digest = try arguments.sha256.map { text in try FileDigest(text) }
        deadline = try arguments.deadline?.value
        if let deadline, deadline <= .zero { throw ExitMessage("--deadline must be more than nothing", .usage) }
    }

    /// Name and password of the URL are told its host, and nobody a redirect leads to.
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

/// A URL of HTTP, and what a file is called that is fetched from it.
struct DownloadURL {
    /// As it is asked for: without name, password and fragment.
    let text: String
    /// Name and password, where it has any.
    let credentials: (name: String, password: String)?
    /// Its parts.
    let parts: RequestURL

    /// - Throws: ``ExitMessage`` where it is none.
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

    /// The last part of its path. What a server calls the file is never asked.
    ///
    /// - Throws: ``ExitMessage`` where that is none, or could be taken for something else: it may begin with no dot, have no `/`, and
    ///   nothing that would steer a terminal.
    func fileName() throws(ExitMessage) -> String {
        let last = parts.path.split(at: "/", omittingEmptySubsequences: false).last ?? ""
        let name = PercentText.decode(last).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        // Beside it lies a file with `.part.json` behind its name; a name has 255 bytes at most.
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), name.utf8.count <= 245, name.printable == name
        else {
            throw ExitMessage("the last part of \"\(text)\" is no name for a file: give one with --output", .usage)
        }
        return name
    }

    private static func decoded(_ text: Substring) -> String {
        PercentText.decode(text).map { String(decoding: $0, as: UTF8.self) } ?? String(text)
    }
}
