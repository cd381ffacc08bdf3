import LinuxSupport

/// Policies for hosts from a file: a JSON text, decoded strictly. A key that is not known, a pin that is none or a file that is not
/// there is an error with its place, for a policy that is read otherwise than it was meant protects nobody.
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
/// | `hosts` | for each pattern of hosts (``HostPattern``) one policy, or an array of policies that all must trust the server; required |
/// | `allHostsMustBeEvaluated` | whether a host without a policy is refused; otherwise it gets `default`. `true` unless set |
/// | `anchors` | files with the certificates that trust begins with; the system's, if missing |
/// | `systemAnchors` | whether the system's count besides `anchors`; `false` unless set, `true` without `anchors` |
/// | `revocationLists` | files with lists for policies of the kind `revocation` |
///
/// | `policy` | Its other keys |
/// |---|---|
/// | `default` | `validateHost` |
/// | `revocation` | `flags`: some of `ocsp`, `crl`, `preferCRL`, `requirePositiveResponse`, `networkAccessDisabled` (``RevocationFlags``); `validateHost` |
/// | `certificates` | `files`: with the pinned certificates; `acceptSelfSigned`: they are the only anchors; `validateChain`, `validateHost` |
/// | `publicKeys` | `files`: with certificates or with keys (`PUBLIC KEY`); `validateChain`, `validateHost` |
/// | `pins` | `pins`: `sha256/BASE64` each; `requireBackup` (`true` unless set), `expires` (a date or time, from which they only report), `reportOnly`, `validateChain`, `validateHost` |
/// | `disabled` | none: everybody is trusted |
///
/// `validateChain` and `validateHost` are `true` unless set. Paths are relative to the directory of the policy file. Files are read
/// once, here; make another value when they change.
public struct TrustPolicyFile: Sendable {
    /// Whether a host without a policy is refused.
    public let allHostsMustBeEvaluated: Bool

    /// What trust begins with; nil for the anchors of the system, which then have not been read.
    public let anchors: TrustAnchors?

    /// Lists for ``RevocationChecker``.
    public let revocationLists: [RevocationList]

    /// The policies by the patterns as they are written; all of a pattern's must trust the server.
    public let policies: [String: [TrustPolicyEntry]]

    private let patterns: [HostPattern: String]

    private static let limit = 1 << 20

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: Its path; a file has a mebibyte at most.
    ///   - reporter: Hears of pins that did not match, on the thread that evaluates.
    /// - Throws: ``TrustPolicyFileError``, for the first thing that is wrong.
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

    /// Reads what would stand in a file.
    ///
    /// - Parameters:
    ///   - content: The JSON text, in UTF-8.
    ///   - name: What errors call it.
    ///   - directory: What paths in it are relative to; the current directory if empty.
    ///   - reporter: Hears of pins that did not match, on the thread that evaluates.
    /// - Throws: ``TrustPolicyFileError``, for the first thing that is wrong.
    public init(
        content: [UInt8],
        name: String,
        directory: String = "",
        reporter: PinSet.Reporter? = nil
    ) throws(TrustPolicyFileError) {
        do {
            try self.init(
                try JSONReader.read(content),
                files: PolicyFileReferences(directory: directory),
                reporter: reporter
            )
        } catch {
            let (line, column) = (error.place.line, error.place.column)
            throw error.isUnreadable
                ? .unreadableFile(file: name, line: line, column: column, problem: error.problem)
                : .wrong(file: name, line: line, column: column, problem: error.problem)
        }
    }

    private init(
        _ node: JSONNode,
        files: PolicyFileReferences,
        reporter: PinSet.Reporter?
    ) throws(PolicyFileFault) {
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
                throw PolicyFileFault("\"\(member.key)\" is no host, *.domain or **.domain", at: member.place)
            }
            if let other = patterns.updateValue(member.key, forKey: pattern) {
                throw PolicyFileFault("\"\(member.key)\" and \"\(other)\" are the same hosts", at: member.place)
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
    ) throws(PolicyFileFault) -> [TrustPolicyEntry] {
        guard case .array(let nodes) = node.value else {
            return [try TrustPolicyEntry(node, files: files, reporter: reporter)]
        }
        guard !nodes.isEmpty else { throw PolicyFileFault("there is no policy in the array", at: node.place) }
        var entries: [TrustPolicyEntry] = []
        for node in nodes { entries.append(try TrustPolicyEntry(node, files: files, reporter: reporter)) }
        return entries
    }

    /// What a client is to judge by: ``anchors``, or the system's, and ``revocationLists``. A policy of the kind `revocation` that is to
    /// ask over the network needs a checker besides, with a fetcher.
    public var configuration: TrustConfiguration {
        var configuration = TrustConfiguration()
        if let anchors { configuration.anchors = anchors }
        configuration.revocationLists = revocationLists
        return configuration
    }

    /// A manager with these policies, ``anchors`` and ``revocationLists``, which count in every client.
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

    /// Which pattern decides for a host; nil if none does.
    ///
    /// - Throws: ``TrustFailure/invalidHost(_:)``.
    public func pattern(forHost host: String) throws(TrustFailure) -> String? {
        let candidates = HostPattern.candidates(for: try ServerHost(host))
        return candidates.lazy.compactMap { patterns[$0] }.first
    }
}

/// Why a policy file cannot be used. Nothing of it is used then: half a policy is none.
public enum TrustPolicyFileError: Error, Hashable, Sendable {
    /// The file cannot be read. `cause` is what the system said.
    case unreadable(file: String, cause: String)

    /// Another file, which it names at that place, cannot be read; `problem` says which.
    case unreadableFile(file: String, line: Int, column: Int, problem: String)

    /// What stands at that place is wrong: lines are counted from 1, columns in bytes from 1.
    case wrong(file: String, line: Int, column: Int, problem: String)
}

extension TrustPolicyFileError: CustomStringConvertible {
    /// For example `policy.json:3:5: the key "pins" is there twice`.
    public var description: String {
        switch self {
        case .unreadable(let file, let cause): "cannot read the policy file \(file): \(cause)"
        case .unreadableFile(let file, let line, let column, let problem),
            .wrong(let file, let line, let column, let problem):
            "\(file):\(line):\(column): \(problem)"
        }
    }
}

/// Reads the files that a policy file names; their paths are relative to its directory.
struct PolicyFileReferences {
    /// Without a slash at its end; empty for the current one.
    let directory: String

    /// Every certificate of the files at the key `files`.
    func certificates(of object: JSONObjectReader) throws(PolicyFileFault) -> [TrustCertificate] {
        _ = try object.required("files")
        return try certificates(object.strings("files") ?? [])
    }

    func certificates(_ files: [(text: String, place: TextPlace)]) throws(PolicyFileFault) -> [TrustCertificate] {
        var certificates: [TrustCertificate] = []
        for (file, place) in files {
            do {
                certificates += try CertificateFiles.read(path(file))
            } catch {
                throw Self.fault(error, file, place)
            }
        }
        return certificates
    }

    /// The keys of these: certificates, or keys by themselves (`PUBLIC KEY`, RFC 7468, 13).
    func publicKeys(of object: JSONObjectReader) throws(PolicyFileFault) -> [ServerPublicKey] {
        _ = try object.required("files")
        var keys: [ServerPublicKey] = []
        for (file, place) in try object.strings("files") ?? [] {
            let own: [[UInt8]?]
            do {
                own = PEMBlocks.documents(in: try InputFile.read(path(file), limit: 1 << 20), type: "PUBLIC KEY")
            } catch {
                throw Self.fault(.file(path: path(file), cause: error.description), file, place)
            }
            if own.isEmpty { keys += try certificates([(file, place)]).map(\.publicKey) }
            for key in own {
                guard let key else { throw PolicyFileFault("a key in \(file) cannot be decoded", at: place) }
                keys.append(ServerPublicKey(subjectPublicKeyInfo: key))
            }
        }
        return keys
    }

    func lists(_ files: [(text: String, place: TextPlace)]) throws(PolicyFileFault) -> [RevocationList] {
        var lists: [RevocationList] = []
        for (file, place) in files {
            do {
                lists += try RevocationList.read(path(file))
            } catch {
                var isUnreadable = false
                if case .unreachable = error { isUnreadable = true }
                let problem = "cannot read the revocation list \(path(file)): \(error)"
                throw PolicyFileFault(problem, at: place, isUnreadable: isUnreadable)
            }
        }
        return lists
    }

    private func path(_ file: String) -> String {
        file.hasPrefix("/") || directory.isEmpty ? file : "\(directory)/\(file)"
    }

    private static func fault(_ error: TrustCertificateError, _ file: String, _ place: TextPlace) -> PolicyFileFault {
        if case .file = error { return PolicyFileFault(error.description, at: place, isUnreadable: true) }
        return PolicyFileFault("\(file) has no certificate that can be used: \(error)", at: place)
    }
}
