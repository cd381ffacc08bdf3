import LinuxSupport

/// Policies for hosts from a JSON file. The file is parsed strictly: an unknown key, an invalid pin or a missing file
/// is an error with its position, because a misread policy protects no host.
///
/// ```json
/// {
///   "anchors": ["own-root.pem"],
///   "systemAnchors": true,
///   "hosts": {
///     "**.example.com": { "policy": "default" },
///     "api.example.com": [
///       { "policy": "revocation", "flags": ["ocsp", "requirePositiveResponse"] },
///       {
///         "policy": "pins",
///         "pins": [
///           "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg=",
///           "sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="
///         ],
///         "expires": "2027-11-01"
///       }
///     ]
///   }
/// }
/// ```
///
/// | Key of the file | Value |
/// |---|---|
/// | `hosts` | for each host pattern (``HostPattern``) one policy, or an array of policies that must all trust the server; required |
/// | `allHostsMustBeEvaluated` | whether a host without a policy is refused; if false, it gets `default`. Default: `true` |
/// | `anchors` | files with the trust anchors. Default: the system's anchors |
/// | `systemAnchors` | whether the system's anchors are trusted in addition to `anchors`. Default: `false`; `true` without `anchors` |
/// | `revocationLists` | files with revocation lists for policies of the kind `revocation` |
///
/// | `policy` | Other keys |
/// |---|---|
/// | `default` | `validateHost` |
/// | `revocation` | `flags`: some of `ocsp`, `crl`, `preferCRL`, `requirePositiveResponse`, `networkAccessDisabled` (``RevocationFlags``); `validateHost` |
/// | `certificates` | `files`: the files with the pinned certificates; `acceptSelfSigned`: if true, they are the only anchors; `validateChain`, `validateHost` |
/// | `publicKeys` | `files`: the files with certificates or keys (`PUBLIC KEY`); `validateChain`, `validateHost` |
/// | `pins` | `pins`: `sha256/BASE64` each; `requireBackup` (default: `true`), `expires` (a date or time from which mismatches are only reported), `reportOnly`, `validateChain`, `validateHost` |
/// | `disabled` | none: every server is trusted |
///
/// The default of `validateChain` and `validateHost` is `true`. Paths are relative to the directory of the policy file.
/// All files are read once, by the initializer. If they change, create another value.
public struct TrustPolicyFile: Sendable {
    /// A Boolean value that indicates whether a host without a policy is refused.
    public let allHostsMustBeEvaluated: Bool

    /// The trust anchors; nil for the anchors of the system, which are then not read here.
    public let anchors: TrustAnchors?

    /// The revocation lists for ``RevocationChecker``.
    public let revocationLists: [RevocationList]

    /// The policies by host pattern, as written in the file. All policies of a pattern must trust the server.
    public let policies: [String: [TrustPolicyEntry]]

    private let patterns: [HostPattern: String]

    private static let limit = 1 << 20

    /// Reads a policy file.
    ///
    /// - Parameters:
    ///   - path: The path of the file. Its maximum size is 1 MiB.
    ///   - reporter: Receives mismatches of pins, on the thread of the evaluation.
    /// - Throws: ``TrustPolicyFileError`` for the first error in the file.
    public init(path: String, reporter: PinSet.Reporter? = nil) throws(TrustPolicyFileError) {
        let bytes: [UInt8]
        do {
            bytes = try InputFile.read(path, limit: Self.limit)
        } catch {
            throw .unreadable(file: path, cause: error.description)
        }
        let directory =
            path.unicodeScalars.lastIndex(of: "/").map { path[..<$0].isEmpty ? "/." : String(path[..<$0]) } ?? ""
        try self.init(content: bytes, name: path, directory: directory, reporter: reporter)
    }

    /// Parses the content of a policy file.
    ///
    /// - Parameters:
    ///   - content: The JSON text, in UTF-8.
    ///   - name: The name of the file in error messages.
    ///   - directory: The directory that paths are relative to; the current directory if empty.
    ///   - reporter: Receives mismatches of pins, on the thread of the evaluation.
    /// - Throws: ``TrustPolicyFileError`` for the first error in the file.
    public init(
        content: [UInt8],
        name: String,
        directory: String = "",
        reporter: PinSet.Reporter? = nil
    ) throws(TrustPolicyFileError) {
        do {
            try self.init(
                try JSONNode.ofPolicyFile(content),
                files: PolicyFileReferences(directory: directory),
                reporter: reporter
            )
        } catch {
            let (line, column) = (error.position.line, error.position.column)
            throw error.isUnreadable
                ? .unreadableFile(file: name, line: line, column: column, problem: error.problem)
                : .wrong(file: name, line: line, column: column, problem: error.problem)
        }
    }

    private init(
        _ node: JSONNode,
        files: PolicyFileReferences,
        reporter: PinSet.Reporter?
    ) throws(PolicyFileError) {
        let object = try JSONObjectReader(node, name: "a policy file")
        try object.allow(["hosts", "allHostsMustBeEvaluated", "anchors", "systemAnchors", "revocationLists"])
        allHostsMustBeEvaluated = try object.bool("allHostsMustBeEvaluated", default: true)
        let own = try object.strings("anchors")
        if try object.bool("systemAnchors", default: own == nil) {
            if let own { anchors = TrustAnchors.system.adding(try files.certificates(own)) } else { anchors = nil }
        } else {
            anchors = TrustAnchors(try files.certificates(own ?? []))
        }
        revocationLists = try files.lists(try object.strings("revocationLists") ?? [])
        var policies: [String: [TrustPolicyEntry]] = [:]
        var patterns: [HostPattern: String] = [:]
        for member in try JSONObjectReader(try object.required("hosts"), name: "\"hosts\"").all {
            let pattern: HostPattern
            do {
                pattern = try HostPattern(member.key)
            } catch {
                throw PolicyFileError("\"\(member.key)\" is not a host, *.domain or **.domain", at: member.position)
            }
            if let other = patterns.updateValue(member.key, forKey: pattern) {
                throw PolicyFileError("\"\(member.key)\" and \"\(other)\" match the same hosts", at: member.position)
            }
            policies[member.key] = try Self.entries(member.node, files: files, reporter: reporter)
        }
        self.policies = policies
        self.patterns = patterns
    }

    private static func entries(
        _ node: JSONNode,
        files: PolicyFileReferences,
        reporter: PinSet.Reporter?
    ) throws(PolicyFileError) -> [TrustPolicyEntry] {
        guard case .array(let nodes) = node.value else {
            return [try TrustPolicyEntry(node, files: files, reporter: reporter)]
        }
        guard !nodes.isEmpty else { throw PolicyFileError("the array of policies is empty", at: node.position) }
        var entries: [TrustPolicyEntry] = []
        for node in nodes { entries.append(try TrustPolicyEntry(node, files: files, reporter: reporter)) }
        return entries
    }

    /// A configuration for clients with ``anchors``, or the system's, and ``revocationLists``. If a policy of the kind
    /// `revocation` is to use the network, set a checker with a fetcher in addition.
    public var configuration: TrustConfiguration {
        var configuration = TrustConfiguration()
        if let anchors { configuration.anchors = anchors }
        configuration.revocationLists = revocationLists
        return configuration
    }

    /// Returns a manager with these policies, ``anchors`` and ``revocationLists``. They apply in every client.
    public func manager() -> ServerTrustManager {
        ServerTrustManager(
            allHostsMustBeEvaluated: allHostsMustBeEvaluated,
            evaluators: policies.mapValues { entries -> any ServerTrustEvaluating in
                entries.count == 1
                    ? entries[0].evaluator : CompositeTrustEvaluator(evaluators: entries.map(\.evaluator))
            },
            anchors: anchors,
            revocationLists: revocationLists
        )
    }

    /// Returns the pattern that applies to a host; nil if none matches.
    public func pattern(forHost host: String) throws(TrustFailure) -> String? {
        let candidates = HostPattern.candidates(for: try ServerHost(host))
        return candidates.lazy.compactMap { patterns[$0] }.first
    }
}

/// The reason why a policy file is not usable. No part of the file is used then, because an incomplete policy is
/// unsafe.
public enum TrustPolicyFileError: Error, Hashable, Sendable {
    /// The file cannot be read. `cause` is the text of the system.
    case unreadable(file: String, cause: String)

    /// Another file cannot be read. The policy file names it at this position, and `problem` contains the reason.
    case unreadableFile(file: String, line: Int, column: Int, problem: String)

    /// The text at this position is invalid. Lines and columns are counted from 1, columns in bytes.
    case wrong(file: String, line: Int, column: Int, problem: String)
}

extension TrustPolicyFileError: CustomStringConvertible {
    /// The position and the error, for example `policy.json:3:5: the key "pins" is duplicated`.
    public var description: String {
        switch self {
        case .unreadable(let file, let cause): "cannot read the policy file \(file): \(cause)"
        case .unreadableFile(let file, let line, let column, let problem),
            .wrong(let file, let line, let column, let problem):
            "\(file):\(line):\(column): \(problem)"
        }
    }
}

/// A reader of the files that a policy file names. Their paths are relative to its directory.
struct PolicyFileReferences {
    /// The directory without a trailing slash; empty for the current directory.
    let directory: String

    /// Returns all certificates of the files at the key `files`.
    func certificates(of object: JSONObjectReader) throws(PolicyFileError) -> [TrustCertificate] {
        _ = try object.required("files")
        return try certificates(object.strings("files") ?? [])
    }

    func certificates(_ files: [(text: String, position: TextPosition)]) throws(PolicyFileError) -> [TrustCertificate] {
        var certificates: [TrustCertificate] = []
        for (file, position) in files {
            do {
                certificates += try CertificateFiles.read(path(file))
            } catch {
                throw Self.fault(error, file, position)
            }
        }
        return certificates
    }

    /// Returns the keys of the files at the key `files`, which contain certificates or public keys (`PUBLIC KEY`, RFC
    /// 7468, 13).
    func publicKeys(of object: JSONObjectReader) throws(PolicyFileError) -> [ServerPublicKey] {
        _ = try object.required("files")
        var keys: [ServerPublicKey] = []
        for (file, position) in try object.strings("files") ?? [] {
            let own: [[UInt8]?]
            do {
                own = PEMBlocks.documents(in: try InputFile.read(path(file), limit: 1 << 20), type: "PUBLIC KEY")
            } catch {
                throw Self.fault(.file(path: path(file), cause: error.description), file, position)
            }
            if own.isEmpty { keys += try certificates([(file, position)]).map(\.publicKey) }
            for key in own {
                guard let key else { throw PolicyFileError("cannot decode a key of \(file)", at: position) }
                keys.append(ServerPublicKey(subjectPublicKeyInfo: key))
            }
        }
        return keys
    }

    func lists(_ files: [(text: String, position: TextPosition)]) throws(PolicyFileError) -> [RevocationList] {
        var lists: [RevocationList] = []
        for (file, position) in files {
            do {
                lists += try RevocationList.read(path(file))
            } catch {
                var isUnreadable = false
                if case .unreachable = error { isUnreadable = true }
                let problem = "cannot read the revocation list \(path(file)): \(error)"
                throw PolicyFileError(problem, at: position, isUnreadable: isUnreadable)
            }
        }
        return lists
    }

    private func path(_ file: String) -> String {
        file.hasPrefix("/") || directory.isEmpty ? file : "\(directory)/\(file)"
    }

    private static func fault(
        _ error: TrustCertificateError,
        _ file: String,
        _ position: TextPosition
    ) -> PolicyFileError {
        if case .file = error { return PolicyFileError(error.description, at: position, isUnreadable: true) }
        return PolicyFileError("\(file) has no usable certificate: \(error)", at: position)
    }
}
